#include "models/run/balanced_time.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "models/engines/parts/page_work.hpp"
#include "sim/base/errors.hpp"
#include "sim/machine/transfer_latency.hpp"

namespace homenode {
namespace {

// The pages of the recorded run, as the policy sees and moves them.
class RepeatedPages final : public PageActions {
public:
  // What the program released at its end lies where it was touched last.
  RepeatedPages(const AddressSpace& addresses, const TouchLog& log) : addresses_{addresses} {
    for (PageNumber page; page < PageNumber{addresses.pages()}; ++page) {
      const NodeId home = addresses.home_of_page(page);
      homes_.push_back(home.is_none() ? log.home(page) : home);
    }
    states_.resize(homes_.size(), mapped);
    for (std::size_t node = 0; node < addresses.nodes(); ++node) free_.push_back(addresses.memory().free(NodeId{node}));
  }
  std::uint64_t pages() const override { return homes_.size(); }
  std::uint64_t page_bytes() const override { return addresses_.page_bytes(); }
  NodeId home(PageNumber page) const override { return homes_[page.value()]; }
  void migrate(PageNumber page, NodeId to) override {
    if (homes_[page.value()] == to || free_[to.index()] == 0) return;
    --free_[to.index()];
    ++free_[homes_[page.value()].index()];
    work_.moves.push_back({page, homes_[page.value()], to});
    homes_[page.value()] = to;
  }
  bool unmap(PageNumber page) override {
    if (!can_be_watched(page) || states_[page.value()] == unmapped) return false;
    ++work_.unmapped;
    states_[page.value()] = unmapped;
    return true;
  }
  bool clear_accessed(PageNumber page) override {
    if (!can_be_watched(page)) return false;
    if (states_[page.value()] == mapped) states_[page.value()] = not_accessed;
    return true;
  }
  std::uint64_t free_pages(NodeId node) const override { return free_[node.index()]; }
  bool move_thread(ThreadId, NodeId) override { return false; }  // threads stay where they were recorded
  bool exchange_threads(ThreadId, ThreadId) override { return false; }
  std::vector<ThreadId> threads_on(NodeId) const override { return {}; }

  void touch(const std::vector<PageNumber>& pages, std::vector<PageUse>& faults) {
    faults.clear();
    for (const PageNumber page : pages) {
      State& state = states_[page.value()];
      if (state == mapped) continue;
      work_.hinting_faults += state == unmapped;
      state = mapped;
      faults.push_back({page, homes_[page.value()]});
    }
  }
  PageWork take_work() { return std::exchange(work_, {}); }

private:
  enum State : std::uint8_t { mapped, unmapped, not_accessed };

  bool can_be_watched(PageNumber page) const { return !homes_[page.value()].is_none() && !addresses_.bound(page); }

  const AddressSpace& addresses_;
  std::vector<NodeId> homes_;
  std::vector<State> states_;
  std::vector<std::uint64_t> free_;  // by node
  PageWork work_;
};

class Repetition {
public:
  Repetition(const BalancedProgram& program, PagePlacement& balancing)
      : program_{program}, balancing_{balancing}, topology_{program.machine}, pages_{program.addresses, program.log} {}

  // The execution begins at `now`; returns its end.
  Time run(const LoggedExecution&, Time now);
  BalancedTime found;

private:
  Time slice(const LoggedSlice&, Time now);
  Time lock_for(std::uint64_t faults, SocketId, Time now);

  const BalancedProgram& program_;
  PagePlacement& balancing_;
  Topology topology_;
  RepeatedPages pages_;
  std::vector<PageUse> faults_;
  Time lock_free_;
  SocketId locked_last_;
};

Time begin_of(const LoggedExecution& execution) { return execution.slices.front().place.now; }

Time end_of(const LoggedExecution& execution) {
  Time end;
  for (const LoggedSlice& slice : execution.slices) end = std::max(end, slice.place.now + slice.duration);
  return end;
}

// Threads go through their slices with the recorded pauses between them.
Time Repetition::run(const LoggedExecution& execution, Time now) {
  struct Next {
    Time begin;
    std::size_t slice;
    bool operator>(const Next& other) const { return std::tie(begin, slice) > std::tie(other.begin, other.slice); }
  };
  std::map<ThreadId, std::vector<std::size_t>> by_thread;
  for (std::size_t s = execution.slices.size(); s-- > 0;) by_thread[execution.slices[s].place.thread].push_back(s);
  std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
  const Time recorded = begin_of(execution);
  for (const auto& [thread, slices] : by_thread) queue.push({now + (execution.slices[slices.back()].place.now - recorded), slices.back()});
  Time end = now;
  while (!queue.empty()) {
    const Next next = queue.top();
    queue.pop();
    const LoggedSlice& one = execution.slices[next.slice];
    const Time done = next.begin + slice(one, next.begin);
    end = std::max(end, done);
    std::vector<std::size_t>& left = by_thread[one.place.thread];
    left.pop_back();
    if (left.empty()) continue;
    const Time pause = execution.slices[left.back()].place.now - (one.place.now + one.duration);
    queue.push({done + pause, left.back()});
  }
  return end;
}

Time Repetition::slice(const LoggedSlice& recorded, Time now) {
  Place place = recorded.place;
  place.now = now;
  if (const auto due = balancing_.wakeup(); due && *due <= now) balancing_.wake(place, pages_);
  pages_.touch(recorded.pages, faults_);
  std::sort(faults_.begin(), faults_.end(), [](const PageUse& a, const PageUse& b) { return a.page < b.page; });
  if (!faults_.empty()) balancing_.observe(place, faults_, pages_);
  const PageWork work = pages_.take_work();
  double seconds = 0;
  add_page_work(work, place.node, program_.addresses, program_.machine, topology_, program_.system, seconds);
  found.scans += work.unmapped > 0;
  found.hinting_faults += work.hinting_faults;
  found.moved_pages += work.moves.size();
  const Time kernel = Time::from_seconds(seconds);
  return recorded.duration + kernel + lock_for(work.hinting_faults, program_.machine.socket_of(place.node), now + kernel);
}

// One after the other, as the engine `line` has it: a lock that others ask for comes from its last holder.
Time Repetition::lock_for(std::uint64_t faults, SocketId socket, Time now) {
  if (faults == 0) return {};
  const FaultCost& cost = program_.system.fault;
  Time held = cost.serial;
  if (lock_free_ > now)
    held += Time::from_seconds(cost.serial_transfers * transfer_latency(program_.machine, topology_, locked_last_, socket).seconds());
  lock_free_ = std::max(lock_free_, now) + held * static_cast<std::int64_t>(faults);
  locked_last_ = socket;
  return lock_free_ - now;
}

}  // namespace

RepeatedGroup repeated_group(const std::vector<LoggedExecution>& executions) {
  const std::size_t number = executions.size();
  RepeatedGroup best;
  for (std::size_t tail = 0; tail <= number / 4; ++tail) {
    const std::size_t last = number - tail;
    for (std::size_t length = 1; 2 * length <= last; ++length) {
      bool same = length > best.last - best.first;
      for (std::size_t i = last - length; same && i < last; ++i) same = executions[i].region == executions[i - length].region;
      if (same) best = {last - length, last};
    }
  }
  return best;
}

BalancedTime balanced_time(const BalancedProgram& program, PagePlacement& balancing, double seconds) {
  const std::vector<LoggedExecution>& executions = program.log.executions();
  const RepeatedGroup group = repeated_group(executions);
  if (group.first == group.last)
    throw UsageError("no executions of the program repeat: " + std::to_string(executions.size()) +
                     " were found; allowed: programs whose last iterations run the same regions");
  Repetition repetition{program, balancing};
  Time alone, now;  // without balancing, with it
  const auto run = [&](std::size_t execution, Time pause) {
    const LoggedExecution& one = executions[execution];
    now = repetition.run(one, now + pause);
    alone += pause + (end_of(one) - begin_of(one));
  };
  const auto pause_before = [&](std::size_t execution) {
    return execution == 0 ? begin_of(executions[0]) : begin_of(executions[execution]) - end_of(executions[execution - 1]);
  };
  for (std::size_t e = 0; e < group.last; ++e) run(e, pause_before(e));
  while (alone.seconds() < seconds) {
    for (std::size_t e = group.first; e < group.last; ++e) run(e, pause_before(e));
    ++repetition.found.repeats;
  }
  repetition.found.group = group.last - group.first;
  repetition.found.seconds = now;
  repetition.found.seconds_alone = alone;
  return repetition.found;
}

}  // namespace homenode
