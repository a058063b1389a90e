#include "traces/analysis/report.hpp"

#include <llvm/Support/FormatVariadic.h>
#include <llvm/Support/JSON.h>

#include "traces/analysis/library_calls.hpp"
#include "traces/analysis/names.hpp"

namespace homenode::analysis {

namespace {

const char* name_of(Certainty certainty) { return certainty == Certainty::certain ? "certain" : "possible"; }

llvm::json::Value site(const SourcePlace& place) {
  if (place.file.empty()) return nullptr;
  return llvm::json::Object{{"file", place.file}, {"line", place.line}};
}

llvm::json::Value number(std::size_t value) { return static_cast<std::int64_t>(value); }

llvm::json::Object thread(const Result& result, std::size_t node, const PointsTo& points_to) {
  const auto& made = result.tree[node];
  llvm::json::Array partners, fathers;
  for (const auto& partner : result.threads[node].partners)
    partners.push_back(llvm::json::Object{{"thread", number(partner.node)}, {"dependence", name_of(partner.certainty)}});
  for (const auto father : result.threads[node].communicates_below) fathers.push_back(number(father));
  return llvm::json::Object{
      {"thread", number(node)},
      {"routine", routine_name(points_to, *made.routine)},
      {"created_at", made.creation ? site(outer_place(*made.creation)) : llvm::json::Value(nullptr)},
      {"call", made.creation ? llvm::json::Value(is_std_thread(*made.creation) ? "std::thread" : "pthread_create") : nullptr},
      {"generator", made.generator ? number(*made.generator) : llvm::json::Value(nullptr)},
      {"several", made.several},
      {"recursive", made.recursive},
      {"type", name_of(result.threads[node].type)},
      {"certain_type", name_of(result.certain_threads[node].type)},
      {"partners", std::move(partners)},
      {"communicates_below", std::move(fathers)}};
}

llvm::json::Object dependence(const FoundDependence& found, const PointsTo& points_to) {
  llvm::json::Object result{{"writer", number(found.between.writer)},
                            {"reader", number(found.between.reader)},
                            {"dependence", name_of(found.between.certainty)},
                            {"data", object_name(points_to, found.object)},
                            {"written_at", site(inner_place(*found.write->at))},
                            {"read_at", site(inner_place(*found.read->at))}};
  const auto& through = found.write->through.empty() ? found.read->through : found.write->through;
  result["through"] = through.empty() ? llvm::json::Value(nullptr) : llvm::json::Value(through);
  return result;
}

}  // namespace

Result analyse(llvm::Module& module, Summaries& summaries) {
  Result result;
  result.tree = generation_tree(module, summaries);
  result.dependences = find_dependences(result.tree, summaries);
  std::vector<GenerationNode> nodes;
  for (const auto& node : result.tree) nodes.push_back({node.generator, node.several});
  std::vector<Dependence> dependences;
  for (const auto& found : result.dependences) dependences.push_back(found.between);
  result.threads = classify(nodes, dependences, Certainty::possible);
  result.certain_threads = classify(nodes, dependences, Certainty::certain);
  return result;
}

void write_report(const Result& result, const PointsTo& points_to, llvm::raw_ostream& out) {
  llvm::json::Array threads, dependences;
  for (std::size_t node = 0; node < result.tree.size(); ++node) threads.push_back(thread(result, node, points_to));
  for (const auto& found : result.dependences) dependences.push_back(dependence(found, points_to));
  out << llvm::formatv("{0:2}\n",
                       llvm::json::Value(llvm::json::Object{
                           {"schema", "homenode.classify/1"}, {"threads", std::move(threads)}, {"dependences", std::move(dependences)}}));
}

}  // namespace homenode::analysis
