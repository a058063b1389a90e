#include "sim/loop/prefiltered_slices.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace homenode {
namespace {

class OneIterationEach final : public WorkDistribution {
public:
  OneIterationEach(ExecutionId id, const Execution& execution) : id_{id}, execution_{execution} {}
  void prepare(const RegionView&, const Team&, const CostOracle*) override {}
  Decision next(ThreadId thread, Time) override {
    const std::int64_t item = execution_.binding == Binding::rank ? static_cast<std::int64_t>(thread.index()) : 0;
    if (item >= execution_.iterations || !served_.insert(thread).second) return {};
    return {Decision::Kind::run, {id_, item, item + 1}, Time{}};
  }

private:
  ExecutionId id_;
  const Execution& execution_;
  std::set<ThreadId> served_;
};

}  // namespace

std::unique_ptr<WorkDistribution> one_iteration_each(ExecutionId id, const Execution& execution) {
  return std::make_unique<OneIterationEach>(id, execution);
}

PrefilteredSlices::PrefilteredSlices(std::unique_ptr<WorkDistribution> hands_out, std::vector<Place> places,
                                     std::shared_ptr<const ExecutionBody> body, SliceCutter& cutter)
    : hands_out_{std::move(hands_out)}, body_{std::move(body)}, cutter_{cutter} {
  for (Place& place : places) {
    members_.emplace_back();
    members_.back().place = place;
  }
}

void PrefilteredSlices::before_start(ThreadId thread, MemoryModel& memory, AddressSpace& addresses) {
  for (const std::uint64_t needed = ++members_[thread.index()].started; rounds_ < needed; ++rounds_) {
    round_.clear();
    stretches_ = false;
    for (Member& member : members_) filter_ahead(member, memory, addresses);
    if (stretches_) round_.clear();
    jump(memory, addresses);
  }
}

// How many slices of the same size the thread goes on with in the block: the cutter ends none of them at the block's end.
std::uint64_t PrefilteredSlices::equal_slices_behind(const Member& member, const Work& work) const {
  const ItemBlock& block = body_->blocks[member.block];
  const std::int64_t end = std::min(block.last, member.items.last), size = work.items.last - work.items.first;
  return work.items.first >= block.first && member.next < end ? static_cast<std::uint64_t>((end - 1 - member.next) / size) : 0;
}

// Over rounds that do to the caches what the last ones did, if there are such.
void PrefilteredSlices::jump(MemoryModel& memory, AddressSpace& addresses) {
  std::uint64_t most = round_.empty() ? 0 : std::numeric_limits<std::uint64_t>::max();
  for (const Work& work : round_) most = std::min(most, equal_slices_behind(members_[work.place.thread.index()], work));
  const std::uint64_t rounds = memory.end_round(round_, most, addresses);
  for (const Work& work : round_)
    members_[work.place.thread.index()].next += static_cast<std::int64_t>(rounds) * (work.items.last - work.items.first);
  rounds_ += rounds;
}

void PrefilteredSlices::filter_ahead(Member& member, MemoryModel& memory, AddressSpace& addresses) {
  if (member.finished) return;
  const std::vector<ItemBlock>& blocks = body_->blocks;
  if (member.next == member.items.last) {
    const Decision decision = hands_out_->next(member.place.thread, Time{});
    if (decision.kind != Decision::Kind::run) {
      member.finished = true;
      return;
    }
    member.items = decision.items;
    member.next = decision.items.first;
    const auto behind = [](std::int64_t iteration, const ItemBlock& block) { return iteration < block.last; };
    member.block = static_cast<std::size_t>(std::upper_bound(blocks.begin(), blocks.end(), member.next, behind) - blocks.begin());
  }
  while (member.block < blocks.size() && blocks[member.block].last <= member.next) ++member.block;
  const std::int64_t end = member.sequence == 0 ? cutter_.end(blocks, member.block, member.next, member.items.last) : member.next;
  Work work{member.place, {member.items.execution, member.next, end}, Time{}};
  if (end != member.next) {
    memory.filter_ahead(work, addresses);
    member.next = end;
    round_.push_back(work);
    return;
  }
  stretches_ = true;
  work.items.last = member.next + 1;
  work.stretch = {member.sequence, Stretch::to_the_end, cutter_.quantum()};
  member.sequence = memory.filter_ahead(work, addresses);
  if (member.sequence != Stretch::to_the_end) return;
  member.sequence = 0;
  ++member.next;
}

}  // namespace homenode
