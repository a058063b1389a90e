#include "traces/analysis/classification.hpp"

#include <algorithm>
#include <map>

namespace homenode::analysis {

namespace {

// With whom each thread has dependences, either way.
std::vector<std::map<std::size_t, Certainty>> partners_of(std::size_t nodes, const std::vector<Dependence>& dependences, Certainty least) {
  std::vector<std::map<std::size_t, Certainty>> result(nodes);
  const auto add = [&](std::size_t one, std::size_t other, Certainty certainty) {
    auto& known = result[one].try_emplace(other, certainty).first->second;
    known = std::max(known, certainty);
  };
  for (const auto& dependence : dependences) {
    if (dependence.certainty < least) continue;
    add(dependence.writer, dependence.reader, dependence.certainty);
    add(dependence.reader, dependence.writer, dependence.certainty);
  }
  return result;
}

bool has_brother(const std::vector<GenerationNode>& tree, std::size_t node) {
  if (tree[node].several) return true;
  for (std::size_t other = 1; other < tree.size(); ++other)
    if (other != node && tree[other].generator == tree[node].generator) return true;
  return false;
}

ThreadType type_of(const std::vector<GenerationNode>& tree, std::size_t node, const std::map<std::size_t, Certainty>& partners) {
  if (!tree[node].generator) return ThreadType::main;
  const bool on_generator_alone = partners.size() == 1 && partners.begin()->first == *tree[node].generator;
  const auto type = thread_type({!partners.empty(), on_generator_alone, has_brother(tree, node)}, LoneSon::side_by_side);
  return static_cast<ThreadType>(1 + static_cast<int>(type));
}

}  // namespace

const char* name_of(ThreadType type) {
  return type == ThreadType::main ? "main" : homenode::name_of(static_cast<homenode::ThreadType>(static_cast<int>(type) - 1));
}

std::vector<Classified> classify(const std::vector<GenerationNode>& tree, const std::vector<Dependence>& dependences, Certainty least) {
  const auto partners = partners_of(tree.size(), dependences, least);
  std::vector<Classified> result(tree.size());
  for (std::size_t node = 0; node < tree.size(); ++node) {
    auto& found = result[node];
    found.type = type_of(tree, node, partners[node]);
    for (const auto& [other, certainty] : partners[node]) found.partners.push_back({other, certainty});
    if (!tree[node].generator) continue;
    // Below all threads that it is side by side with and that stand in the tree already; a thread that is the first of those it
    // belongs with, for which S3 names no place, goes below its generator.
    if (found.type == ThreadType::side_by_side)
      for (const auto& [other, certainty] : partners[node])
        if (other < node) found.communicates_below.push_back(other);
    if (found.communicates_below.empty()) found.communicates_below.push_back(*tree[node].generator);
  }
  return result;
}

}  // namespace homenode::analysis
