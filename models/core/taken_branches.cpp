#include "models/core/taken_branches.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace homenode {
namespace {

// How many others came between a branch and the same one before: none before it, none behind it in the window.
struct Visit {
  std::optional<std::size_t> before;
  std::optional<std::size_t> until_end;
};

class Recency {
public:
  // Others since its last visit; nothing at its first one.
  std::optional<std::size_t> visit(std::uint64_t site) {
    const auto found = std::find(sites_.begin(), sites_.end(), site);
    const auto others = static_cast<std::size_t>(found - sites_.begin());
    const bool known = found != sites_.end();
    if (known) sites_.erase(found);
    sites_.insert(sites_.begin(), site);
    return known ? std::optional{others} : std::nullopt;
  }
  std::size_t size() const { return sites_.size(); }

private:
  std::vector<std::uint64_t> sites_;  // the last one first
};

// By d: the share of visits that are followed by another one of the same branch after d others or more, for d up to `most`.
std::vector<double> survival(const std::vector<Visit>& visits, std::size_t most) {
  std::vector<double> again(most + 1), at_risk(most + 2);  // of each distance; of that one and more
  for (const Visit& visit : visits) {
    if (visit.before && *visit.before <= most) again[*visit.before] += 1;
    if (visit.before) at_risk[std::min(*visit.before, most + 1)] += 1;
    if (visit.until_end && *visit.until_end > 0) at_risk[std::min(*visit.until_end - 1, most + 1)] += 1;  // not again after fewer
  }
  for (std::size_t d = most + 1; d-- > 0;) at_risk[d] += at_risk[d + 1];
  std::vector<double> share(most + 1, 1);
  for (std::size_t d = 0; d < most; ++d) share[d + 1] = at_risk[d] > 0 ? share[d] * (1 - again[d] / at_risk[d]) : share[d];
  return share;
}

// Whether the code goes on elsewhere. Captured code has other code between its blocks, and the addresses are of that: a block begins a
// little behind the place where the branch to it goes. Where the one that a branch falls through to begins before the branch's target, the
// target's begins there or behind it.
bool is_taken(const CoreBlock& block, const CoreBlock& behind) {
  if (block.ending != CoreBlock::Ending::may_jump) return block.ending != CoreBlock::Ending::goes_on;
  if (!block.address || !behind.address) return false;
  const auto begin = static_cast<std::int64_t>(*behind.address - *block.address);
  const bool is_backward = block.target < block.instructions.back().next;
  return is_backward ? begin < block.instructions.back().next : begin >= block.target;
}

// A branch of the window, by where it stands, and the code that it ends.
struct Site {
  std::uint64_t number = 0;
  std::uint32_t instruction = 0;
  bool calls = false;  // or returns
  std::vector<const CoreInstruction*> code = {};
};

// In the window's order.
std::vector<Site> sites_of(const WindowStream& stream, const WindowOfBlocks& window) {
  std::vector<Site> sites;
  std::vector<const CoreInstruction*> code;
  for (std::size_t i = 0; i + 1 < window.blocks.size(); ++i) {
    const CoreBlock& block = *window.blocks[i];
    for (std::size_t j = 0; j < block.instructions.size(); ++j) {
      const CoreInstruction& instruction = block.instructions[j];
      const bool is_last = j + 1 == block.instructions.size();
      code.push_back(&instruction);
      if (is_last ? !is_taken(block, *window.blocks[i + 1]) : !instruction.leaves) continue;
      sites.push_back({.number = instruction.site != 0 ? instruction.site : 2 * block.id,
                       .instruction = static_cast<std::uint32_t>(stream.first[i] + j),
                       .calls = instruction.calls,
                       .code = std::exchange(code, {})});
    }
  }
  return sites;
}

// Where in its line the code of the site begins is not known.
double lines_on_average(const Site& site, unsigned line) {
  unsigned bytes = 0;
  for (const CoreInstruction* const instruction : site.code) bytes += instruction->bytes;
  return 1 + static_cast<double>(std::max(bytes, 1U) - 1) / line;
}

// Of code that begins so many bytes behind a line's begin.
double groups(const Site& site, unsigned begin, const BranchTargets& targets) {
  unsigned place = begin, operations = 0, groups = 0;
  const auto end_line = [&] { groups += (std::max(operations, 1U) + targets.operations - 1) / targets.operations; };
  for (const CoreInstruction* const instruction : site.code) {
    if (place >= targets.line) {
      end_line();
      place -= targets.line;
      operations = 0;
    }
    place += instruction->bytes;
    operations += instruction->plain->getDesc().NumMicroOps;
  }
  end_line();
  return groups;
}

// The front end's, for the code that ends with the branch.
double cycles_of(const Site& site, std::optional<unsigned> begin, const BranchTargets& targets) {
  if (targets.operations == 0) return lines_on_average(site, targets.line);
  if (begin) return groups(site, *begin, targets);
  double sum = 0;
  for (unsigned place = 0; place < targets.line; place += targets.aligned) sum += groups(site, place, targets);
  return sum * targets.aligned / targets.line;
}

// Those of branches that are none of the last ones.
void add_far(const std::vector<Site>& sites, const BranchTargets& targets, std::vector<TakenBranch>& taken) {
  std::vector<Visit> visits(sites.size());
  Recency forward, backward;
  std::vector<std::size_t> known(sites.size());  // that differ, before it
  for (std::size_t i = 0; i < sites.size(); ++i) {
    known[i] = forward.size();
    visits[i].before = forward.visit(sites[i].number);
  }
  for (std::size_t i = sites.size(); i-- > 0;) {
    const std::size_t behind = backward.size();
    if (!backward.visit(sites[i].number)) visits[i].until_end = behind;
  }
  const std::vector<double> share = survival(visits, targets.entries);
  double chances = 0.5;
  for (std::size_t i = 0; i < sites.size(); ++i) {
    bool is_far = visits[i].before.value_or(known[i]) >= targets.entries;
    if (!visits[i].before && !is_far && share[known[i]] > 0) {
      chances += share[targets.entries] / share[known[i]];
      is_far = chances >= 1;
      if (is_far) chances -= 1;
    }
    if (is_far) taken[i].cycles += targets.far;
  }
}

}  // namespace

double most_cycles(const WindowStream& stream, const WindowOfBlocks& window, const BranchTargets& targets) {
  if (targets.entries == 0 || targets.operations == 0 || window.is_cut) return 0;
  double cycles = 0;
  bool differs = false;
  for (const Site& site : sites_of(stream, window)) {
    double most = 0;
    for (unsigned begin = 0; begin < targets.line; begin += targets.aligned) most = std::max(most, groups(site, begin, targets));
    differs = differs || most > groups(site, 0, targets);
    cycles += most + (site.calls ? targets.call : 0);
  }
  return differs ? cycles : 0;
}

std::vector<TakenBranch> taken_branches(const WindowStream& stream, const WindowOfBlocks& window, const BranchTargets& targets) {
  std::vector<TakenBranch> taken;
  if (targets.entries == 0 || window.is_cut) return taken;
  const std::vector<Site> sites = sites_of(stream, window);
  for (const Site& site : sites) taken.push_back({.instruction = site.instruction});
  for (std::size_t i = 0; i < sites.size(); ++i)
    taken[i].cycles = cycles_of(sites[i], window.begin, targets) + (sites[i].calls ? targets.call : 0);
  if (targets.far > 0) add_far(sites, targets, taken);
  return taken;
}

}  // namespace homenode
