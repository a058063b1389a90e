#include "sim/report/timeline.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace homenode {
namespace {

bool same(const Timeline::Span& a, const Timeline::Span& b) {
  return a.doing == b.doing && a.execution == b.execution && a.label == b.label;
}

}  // namespace

const char* name_of(ThreadActivity doing) {
  static constexpr std::array<const char*, static_cast<std::size_t>(ThreadActivity::count)> names{
      "work",         "page work",  "heap call",  "runtime",     "fork",        "wait: barrier", "wait: lock",
      "wait: signal", "wait: join", "wait: turn", "wait: tasks", "wait: items", "wait: core"};
  return names[static_cast<std::size_t>(doing)];
}

Timeline::Timeline(std::size_t most) : most_{most == 0 ? 0 : std::max<std::size_t>(most, 2)} {}

void Timeline::set_resources(std::vector<std::string> names, std::vector<double> bandwidths, std::size_t most_intervals) {
  resources_ = std::move(names);
  bandwidths_ = std::move(bandwidths);
  use_ = UseOverTime{resources_.size(), most_intervals};
  overview_ = UseOverTime{resources_.size(), most_of_overview};
}

void Timeline::begin_part(const Workload& workload, Time begin) {
  begin_ = begin;
  labels_before_ = static_cast<std::uint32_t>(labels_.size());
  executions_before_ = std::exchange(executions_, executions_ + static_cast<std::uint32_t>(workload.executions.size()));
  for (const Region& region : workload.regions) labels_.push_back(region.label);
  overview_.add_resources(workload.regions.size());
}

void Timeline::record(ThreadActivity doing, ThreadId thread, const Workload& workload, ItemRange items, Time from, Time to) {
  if (to <= from) return;
  const RegionId region = workload.executions[items.execution.index()].region;
  if (doing <= ThreadActivity::runtime && doing != ThreadActivity::page_work)  // page work lies within work
    overview_.add(resources_.size() + labels_before_ + region.index(), begin_ + from, begin_ + to, (to - from).seconds());
  if (!keeps_spans()) return;
  spans_.push_back({.thread = thread,
                    .doing = doing,
                    .label = labels_before_ + region.value(),
                    .execution = executions_before_ + items.execution.value(),
                    .from = begin_ + from,
                    .to = begin_ + to,
                    .first = items.first,
                    .last = items.last});
  if (spans_.size() > most_) thin();
}

RunOverTime Timeline::overview() const {
  RunOverTime result{.interval = overview_.interval()};
  for (std::size_t row = 0; row < overview_.resources(); ++row) {
    const std::vector<double>& seconds = overview_.of(row);
    if (seconds.empty()) continue;
    if (row < resources_.size()) {
      result.resources.push_back({resources_[row], seconds});
    } else {
      result.regions.push_back({labels_[row - resources_.size()], seconds});
    }
  }
  return result;
}

const std::vector<Timeline::Span>& Timeline::spans() {
  sort();
  if (least_ > Time{}) join_neighbours();
  return spans_;
}

void Timeline::sort() {
  std::stable_sort(spans_.begin(), spans_.end(), [](const Span& a, const Span& b) {
    return std::tie(a.thread, a.from, b.to, a.doing) < std::tie(b.thread, b.from, a.to, b.doing);
  });
}

void Timeline::thin() {
  sort();
  if (least_ > Time{}) join_neighbours();
  while (spans_.size() > most_ / 2) {
    least_ = std::max(least_ * 2, Time::picoseconds(1000));
    join_neighbours();
  }
}

// What lies between two spans that become one is shorter than `least_`, and goes.
void Timeline::join_neighbours() {
  constexpr std::size_t looked_at = 8;  // spans before one
  std::size_t kept = 0;
  const auto leave_out = [this](const Span& span) { left_out_ += span.joined; };
  for (std::size_t next = 0; next < spans_.size(); ++next) {
    const Span span = spans_[next];
    std::size_t before = kept;
    bool joined = false;
    for (std::size_t looked = 0; looked < looked_at && before > 0 && !joined; ++looked) {
      const Span& candidate = spans_[--before];
      if (candidate.thread != span.thread) break;
      if (candidate.doing == ThreadActivity::page_work) continue;  // within the span before it
      if (span.from > candidate.to + least_) break;
      joined = same(candidate, span);
    }
    if (!joined || span.doing == ThreadActivity::page_work) {
      spans_[kept++] = span;
      continue;
    }
    Span& whole = spans_[before];
    std::size_t end = before + 1;
    for (std::size_t between = before + 1; between < kept; ++between) {
      if (spans_[between].doing == ThreadActivity::page_work && spans_[between].to <= whole.to)
        spans_[end++] = spans_[between];
      else
        leave_out(spans_[between]);
    }
    kept = end;
    whole.to = std::max(whole.to, span.to);
    whole.first = std::min(whole.first, span.first);
    whole.last = std::max(whole.last, span.last);
    whole.joined += span.joined;
  }
  spans_.resize(kept);
  std::erase_if(spans_, [&](const Span& span) {
    const bool shorter = span.to - span.from < least_;
    if (shorter) leave_out(span);
    return shorter;
  });
}

}  // namespace homenode
