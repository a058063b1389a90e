#include "sim/thread_graph.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "sim/errors.hpp"
#include "sim/line_touches.hpp"

namespace homenode {

namespace {

constexpr unsigned object_shift = 42;  // an object's bytes are numbered from (index + 1) << object_shift
constexpr std::size_t gathered = std::size_t{1} << 16;

// Distinct bytes as sorted ranges that do not touch each other.
class ByteSet {
public:
  void add(LineRange range) {
    if (!ranges_.empty() && range.first >= ranges_.back().first && range.first <= ranges_.back().last && sorted_ == ranges_.size()) {
      ranges_.back().last = std::max(ranges_.back().last, range.last);
      return;
    }
    if (sorted_ == ranges_.size() && (ranges_.empty() || range.first > ranges_.back().last)) ++sorted_;
    ranges_.push_back(range);
    if (ranges_.size() - sorted_ > std::max(gathered, sorted_)) settle();
  }
  void settle() {
    std::sort(ranges_.begin(), ranges_.end(), [](const LineRange& a, const LineRange& b) { return a.first < b.first; });
    std::size_t kept = 0;
    for (std::size_t i = 1; i < ranges_.size(); ++i) {
      if (ranges_[i].first <= ranges_[kept].last)
        ranges_[kept].last = std::max(ranges_[kept].last, ranges_[i].last);
      else
        ranges_[++kept] = ranges_[i];
    }
    if (!ranges_.empty()) ranges_.resize(kept + 1);
    sorted_ = ranges_.size();
  }
  const std::vector<LineRange>& ranges() const { return ranges_; }
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const LineRange& range : ranges_) sum += range.size();
    return sum;
  }

private:
  std::vector<LineRange> ranges_;
  std::size_t sorted_ = 0;  // so many from the front are in order
};

LineTouchOptions by_bytes() {
  LineTouchOptions options;
  options.line_bytes = 1;
  options.group_lines = std::uint64_t{1} << 20;
  return options;
}

class Builder {
public:
  Builder(const Workload& workload, unsigned team) : workload_{workload}, team_{team}, touches_{by_bytes()}, graph_{threads()} {
    reads_.resize(graph_.threads.size());
    writes_.resize(graph_.threads.size());
  }

  ThreadGraph build() {
    for (std::size_t t = 1; t < graph_.threads.size(); ++t) graph_.threads[t].parent = ThreadId{0u};
    for (std::size_t t = 0; t < std::min(graph_.threads.size(), workload_.threads.size()); ++t)
      graph_.threads[t].routine = workload_.threads[t].routine;
    // Creators come before whom they create: routines of created threads may stand before the code that creates the first.
    for (const bool bodies : {false, true}) {
      for (std::size_t e = 0; e < workload_.executions.size(); ++e) {
        if (is_body(workload_.executions[e]) != bodies) continue;
        const auto body = workload_.body(ExecutionId{e});
        deal_out(workload_.executions[e], e, *body);
      }
    }
    for (std::size_t t = 0; t < graph_.threads.size(); ++t) {
      reads_[t].settle();
      writes_[t].settle();
      graph_.threads[t].read_bytes = reads_[t].bytes();
      graph_.threads[t].written_bytes = writes_[t].bytes();
    }
    share();
    return std::move(graph_);
  }

private:
  bool creates_threads() const {
    return std::any_of(workload_.executions.begin(), workload_.executions.end(), [&](const Execution& e) { return is_body(e); });
  }
  bool is_body(const Execution& execution) const {
    return execution.parallel == 0 && workload_.regions[execution.region.index()].kind == RegionKind::thread;
  }
  std::size_t threads() const { return creates_threads() ? std::max<std::size_t>(workload_.threads.size(), 1) : std::max(team_, 1U); }

  void deal_out(const Execution& execution, std::size_t index, const ExecutionBody& body) {
    if (execution.iterations == 0) return;
    if (execution.parallel == 0) {
      const auto found = runner_.find(index);
      run(body, 0, execution.iterations, {is_body(execution) && found != runner_.end() ? found->second : 0, 1});
      return;
    }
    if (execution.binding == Binding::rank && execution.team != graph_.threads.size())
      throw UsageError("region '" + workload_.regions[execution.region.index()].label + "' is bound to the ranks of a team of " +
                       std::to_string(execution.team) + "; allowed: --threads " + std::to_string(execution.team) + ", found " +
                       std::to_string(graph_.threads.size()));
    if (execution.binding == Binding::replicated) {
      run(body, 0, 1, {0, graph_.threads.size()});
      return;
    }
    const RegionKind kind = workload_.regions[execution.region.index()].kind;
    const auto team = static_cast<std::int64_t>(graph_.threads.size());
    if (execution.binding == Binding::rank || kind == RegionKind::single || kind == RegionKind::section || kind == RegionKind::task) {
      for (std::int64_t i = 0; i < execution.iterations; ++i) run(body, i, i + 1, {static_cast<std::size_t>(i % team), 1});
      return;
    }
    // OpenMP 5.2, section 11.5.3: static without a chunk size, "at most one chunk for each thread", of about equal size.
    const std::int64_t each = execution.iterations / team, more = execution.iterations % team;
    for (std::int64_t t = 0, first = 0; t < team; ++t) {
      const std::int64_t last = first + each + (t < more ? 1 : 0);
      run(body, first, last, {static_cast<std::size_t>(t), 1});
      first = last;
    }
  }

  struct Runners {
    std::size_t first = 0, count = 1;
  };
  void run(const ExecutionBody& body, std::int64_t first, std::int64_t last, Runners who) {
    if (first >= last) return;
    note_events(body, first, last, who.first);
    touches_.start(workload_.patterns, body, first, last,
                   [](ObjectId object) { return (std::uint64_t{object.index()} + 1) << object_shift; });
    while (touches_.next(group_)) {
      for (const LineTouch& touch : group_) {
        const std::size_t object = (touch.lines.first >> object_shift) - 1;
        if (object < workload_.objects.size() && workload_.objects[object].thread_private) continue;
        for (std::size_t t = who.first; t < who.first + who.count; ++t) {
          if (touch.reads) reads_[t].add(touch.lines);
          if (touch.writes) writes_[t].add(touch.lines);
        }
      }
    }
  }

  void note_events(const ExecutionBody& body, std::int64_t first, std::int64_t last, std::size_t who) {
    for (const ItemBlock& block : body.blocks) {
      if (block.last <= first || block.first >= last) continue;
      for (const SyncEvent& event : workload_.patterns[block.pattern.index()].sync_events) {
        const auto other = static_cast<std::size_t>(event.object);
        if (other >= graph_.threads.size()) continue;
        if (event.operation == SyncOperation::create) {
          graph_.threads[other].parent = ThreadId{who};
          runner_[static_cast<std::size_t>(event.match)] = other;
        } else if (event.operation == SyncOperation::join) {
          graph_.threads[other].joined_by = ThreadId{who};
        }
      }
    }
  }

  // A sweep over the ends of all ranges: between two of them the same threads write and read every byte.
  void share() {
    struct End {
      std::uint64_t at;
      std::uint32_t thread;
      bool writes, begins;
    };
    std::vector<End> ends;
    for (std::uint32_t t = 0; t < graph_.threads.size(); ++t)
      for (const bool writes : {false, true})
        for (const LineRange& range : (writes ? writes_ : reads_)[t].ranges()) {
          ends.push_back({range.first, t, writes, true});
          ends.push_back({range.last, t, writes, false});
        }
    std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) { return a.at < b.at; });
    std::vector<std::uint32_t> readers, writers;
    std::uint64_t before = 0;
    for (const End& end : ends) {
      if (end.at > before)
        for (const std::uint32_t w : writers)
          for (const std::uint32_t r : readers)
            if (w != r) graph_.add_shared(ThreadId{w}, ThreadId{r}, end.at - before);
      before = end.at;
      auto& active = end.writes ? writers : readers;
      if (end.begins)
        active.push_back(end.thread);
      else
        active.erase(std::find(active.begin(), active.end(), end.thread));
    }
  }

  const Workload& workload_;
  unsigned team_;
  LineTouches touches_;
  ThreadGraph graph_;
  std::vector<ByteSet> reads_, writes_;
  std::map<std::size_t, std::size_t> runner_;  // of the routine of a created thread
  std::vector<LineTouch> group_;
};

}  // namespace

ThreadGraph thread_graph(const Workload& workload, unsigned team) { return Builder{workload, team}.build(); }

}  // namespace homenode
