#include "sim/loop/time_shares.hpp"

#include <algorithm>

namespace homenode {

TimeShares::TimeShares(std::size_t regions, std::size_t threads)
    : page_work_{regions}, runtime_{regions + 1}, spent_(regions + 2), team_(regions), doing_(threads) {}

void TimeShares::start(ThreadId thread, const Slice& slice, Time now) {
  advance(now);
  const std::size_t t = thread.index(), region = slice.region.index();
  const std::uint64_t turn = ++doing_[t].turn;
  const Time pages = now + slice.runtime, work = pages + slice.page_work;
  become(t, slice.runtime > Time{} ? runtime_ : slice.page_work > Time{} ? page_work_ : region);
  if (slice.runtime > Time{} && slice.page_work > Time{}) changes_.push({pages, t, turn, page_work_});
  if (work > now) changes_.push({work, t, turn, region});
}

void TimeShares::stop(ThreadId thread, Time now) {
  advance(now);
  ++doing_[thread.index()].turn;
  become(thread.index(), none);
}

void TimeShares::hand_out(ThreadId thread, Time now, Time until) {
  advance(now);
  const std::uint64_t turn = ++doing_[thread.index()].turn;
  become(thread.index(), runtime_);
  changes_.push({until, thread.index(), turn, none});
}

void TimeShares::fork(RegionId region, Time now, Time until) {
  advance(now);
  forks_for_ = region.index();
  fork_until_ = std::max(fork_until_, until);
}

void TimeShares::barrier(RegionId region, Time now, Time until) {
  advance(now);
  meets_behind_ = region.index();
  barrier_until_ = std::max(barrier_until_, until);
}

void TimeShares::end(Time time) {
  advance(time);
  overheads_.page_work = spent_[page_work_];
  overheads_.runtime = spent_[runtime_];
}

void TimeShares::advance(Time to) {
  while (!changes_.empty() && changes_.top().at <= to) {
    const Change change = changes_.top();
    changes_.pop();
    if (doing_[change.thread].turn != change.turn) continue;
    pass(change.at);
    become(change.thread, change.account);
  }
  pass(to);
}

// Of what does not divide evenly the first account has the rest.
void TimeShares::pass(Time to) {
  const Time passed = to - now_;
  if (passed <= Time{}) return;
  if (working_ > 0) {
    Time left = passed;
    for (std::size_t i = running_.size(); i-- > 0;) {
      const Time part = i == 0 ? left : Time::picoseconds(passed.count() * running_[i].threads / working_);
      spent_[running_[i].account] += part;
      left = left - part;
    }
  } else {
    const Time forked = std::clamp(fork_until_, now_, to), met = std::clamp(barrier_until_, forked, to);
    overheads_.fork += forked - now_;
    overheads_.barrier += met - forked;
    if (forked > now_) team_[forks_for_] += forked - now_;
    if (met > forked) team_[meets_behind_] += met - forked;
    overheads_.waiting += to - met;
  }
  now_ = to;
}

void TimeShares::become(std::size_t thread, std::size_t account) {
  const auto find = [this](std::size_t wanted) {
    return std::find_if(running_.begin(), running_.end(), [=](const Running& running) { return running.account == wanted; });
  };
  std::size_t& now = doing_[thread].account;
  if (now != none) {
    const auto left = find(now);
    if (--left->threads == 0) running_.erase(left);
    --working_;
  }
  now = account;
  if (account == none) return;
  ++working_;
  if (const auto known = find(account); known != running_.end()) {
    ++known->threads;
  } else {
    running_.push_back({account, 1});
  }
}

}  // namespace homenode
