// Of a workload: what each thread reads and writes in each stage of its life, and which of these bytes two threads share.
#include "sim/program/thread_graph.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "sim/base/errors.hpp"
#include "sim/program/line_touches.hpp"
#include "sim/program/thread_stages.hpp"

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
    const auto before = [](const LineRange& a, const LineRange& b) { return a.first < b.first; };
    const auto unsorted = ranges_.begin() + static_cast<std::ptrdiff_t>(sorted_);
    std::sort(unsorted, ranges_.end(), before);
    std::inplace_merge(ranges_.begin(), unsorted, ranges_.end(), before);
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
  Builder(const Workload& workload, unsigned team)
      : workload_{workload},
        team_{team},
        touches_{by_bytes()},
        graph_{threads()},
        stages_{graph_.threads.size()},
        pairs_(graph_.threads.size() * graph_.threads.size()) {}

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
    stages_.settle();
    std::vector<ByteSet> read(graph_.threads.size()), written(graph_.threads.size());
    for (Part& part : parts_) {
      part.reads.settle();
      part.writes.settle();
      for (const LineRange& range : part.reads.ranges()) read[part.thread].add(range);
      for (const LineRange& range : part.writes.ranges()) written[part.thread].add(range);
    }
    for (std::size_t t = 0; t < graph_.threads.size(); ++t) {
      read[t].settle();
      written[t].settle();
      graph_.threads[t].read_bytes = read[t].bytes();
      graph_.threads[t].written_bytes = written[t].bytes();
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
    in_team_ = execution.parallel != 0;
    if (execution.parallel == 0) {
      const auto found = runner_.find(index);
      run(body, 0, execution.iterations, {is_body(execution) && found != runner_.end() ? found->second : 0, 1});
      return;
    }
    if (execution.binding == Binding::rank && execution.team > graph_.threads.size())
      throw UsageError("region '" + workload_.regions[execution.region.index()].label + "' is bound to the ranks of a team of " +
                       std::to_string(execution.team) + "; allowed: --threads " + std::to_string(execution.team) + " or more, found " +
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
  struct Pair {
    std::uint64_t shared = 0, dependent = 0;
  };
  // What a thread did in one stage of its life, or as a member of teams.
  struct Part {
    std::uint32_t thread = 0, stage = 0;
    bool of_team = false;
    ByteSet reads, writes;
  };

  void run(const ExecutionBody& body, std::int64_t first, std::int64_t last, Runners who) {
    const auto behind = [](std::int64_t iteration, const ItemBlock& block) { return iteration < block.last; };
    std::int64_t passed = first;  // blocks that end no stage are passed together
    const auto pass_until = [&](std::int64_t until) {
      if (passed >= until) return;
      begin(body, passed, until);
      note_touches(who);
    };
    for (auto block = std::upper_bound(body.blocks.begin(), body.blocks.end(), first, behind);
         block != body.blocks.end() && block->first < last; ++block) {
      const std::int64_t from = std::max(first, block->first), to = std::min(last, block->last);
      const ItemPattern& pattern = workload_.patterns[block->pattern.index()];
      for (std::size_t t = who.first; t < who.first + who.count; ++t)
        graph_.threads[t].accesses += pattern.accesses * static_cast<std::uint64_t>(to - from);
      if (std::none_of(pattern.sync_events.begin(), pattern.sync_events.end(), [this](const SyncEvent& e) { return ends_stage(e); }))
        continue;
      pass_until(from);
      passed = to;
      for (std::int64_t iteration = from; iteration < to; ++iteration) {
        begin(body, iteration, iteration + 1);
        for (const SyncEvent& event : pattern.sync_events) {
          if (!ends_stage(event)) continue;
          touches_.go_on_until(event.sequence);
          note_touches(who);
          note(event, who.first);
        }
        touches_.go_on_until(LineTouches::to_the_end);
        note_touches(who);
      }
    }
    pass_until(last);
  }

  void begin(const ExecutionBody& body, std::int64_t first, std::int64_t last) {
    touches_.start(workload_.patterns, body, first, last,
                   [](ObjectId object) { return Address{(std::uint64_t{object.index()} + 1) << object_shift}; });
  }

  void note_touches(Runners who) {
    std::vector<std::size_t> of;
    for (std::size_t t = who.first; t < who.first + who.count; ++t) of.push_back(part_of(t));
    while (touches_.next(group_)) {
      for (const LineTouch& touch : group_) {
        const std::size_t object = (touch.lines.first.value() >> object_shift) - 1;
        if (object < workload_.objects.size() && workload_.objects[object].thread_private) continue;
        for (const std::size_t index : of) {
          Part& part = parts_[index];
          if (touch.reads) part.reads.add(touch.lines);
          if (touch.writes) part.writes.add(touch.lines);
        }
      }
    }
  }

  std::size_t part_of(std::size_t thread) {
    const std::tuple key{thread, in_team_, in_team_ ? 0 : stages_.of(thread)};
    const auto [found, is_new] = part_index_.try_emplace(key, parts_.size());
    if (is_new) parts_.push_back({static_cast<std::uint32_t>(thread), std::get<2>(key), in_team_, {}, {}});
    return found->second;
  }

  bool ends_stage(const SyncEvent& event) const {
    return (event.operation == SyncOperation::create || event.operation == SyncOperation::join) && event.object < graph_.threads.size();
  }
  void note(const SyncEvent& event, std::size_t who) {
    const auto other = static_cast<std::size_t>(event.object);
    if (event.operation == SyncOperation::create) {
      graph_.threads[other].parent = ThreadId{who};
      runner_[static_cast<std::size_t>(event.match)] = other;
      stages_.creates(who, other);
    } else {
      graph_.threads[other].joined_by = ThreadId{who};
      stages_.joins(who, other);
    }
  }

  // Serial code of a program with teams runs while no team does; its threads are not created by events.
  bool concurrent(const Part& a, const Part& b) const {
    if (a.of_team || b.of_team) return (a.of_team && b.of_team) || creates_threads_;
    return stages_.concurrent(a.thread, a.stage, b.thread, b.stage);
  }

  // Where a range of a part begins, or has ended.
  struct End {
    LineNumber at;
    std::uint32_t part : 30, writes : 1, begins : 1;
  };
  // Of all parts, in order. Those of one part are in order already: runs of them are merged.
  std::vector<End> ends() const {
    std::vector<End> ends;
    std::vector<std::ptrdiff_t> runs{0};
    for (std::uint32_t p = 0; p < parts_.size(); ++p)
      for (const bool writes : {false, true}) {
        for (const LineRange& range : (writes ? parts_[p].writes : parts_[p].reads).ranges()) {
          ends.push_back({range.first, p, writes, true});
          ends.push_back({range.last, p, writes, false});
        }
        if (static_cast<std::ptrdiff_t>(ends.size()) > runs.back()) runs.push_back(static_cast<std::ptrdiff_t>(ends.size()));
      }
    std::vector<End> merged(ends.size());
    while (runs.size() > 2) {
      std::vector<std::ptrdiff_t> longer{0};
      for (std::size_t run = 0; run + 1 < runs.size(); run += 2) {
        const std::ptrdiff_t middle = runs[run + 1], last = run + 2 < runs.size() ? runs[run + 2] : middle;
        std::merge(ends.begin() + runs[run], ends.begin() + middle, ends.begin() + middle, ends.begin() + last, merged.begin() + runs[run],
                   [](const End& a, const End& b) { return a.at < b.at; });
        longer.push_back(last);
      }
      ends.swap(merged);
      runs = std::move(longer);
    }
    return ends;
  }

  // Those whose range has begun and not ended.
  struct Active {
    explicit Active(std::size_t threads) : parts(threads) {}
    std::vector<std::vector<std::uint32_t>> parts;  // by thread
    std::vector<std::uint32_t> threads;             // that have some, in any order
    void begin(std::uint32_t thread, std::uint32_t part) {
      if (parts[thread].empty()) threads.push_back(thread);
      parts[thread].push_back(part);
    }
    void end(std::uint32_t thread, std::uint32_t part) {
      std::erase(parts[thread], part);
      if (parts[thread].empty()) std::erase(threads, thread);
    }
  };

  // A sweep over the ends of all ranges: between two of them the same threads write and read every byte.
  void share() {
    Active readers{graph_.threads.size()}, writers{graph_.threads.size()};
    LineNumber before;
    for (const End& end : ends()) {
      if (end.at > before) share(writers, readers, end.at - before);
      before = end.at;
      Active& active = end.writes != 0 ? writers : readers;
      const std::uint32_t thread = parts_[end.part].thread;
      if (end.begins != 0)
        active.begin(thread, end.part);
      else
        active.end(thread, end.part);
    }
    for (std::size_t a = 0; a < graph_.threads.size(); ++a) {
      for (std::size_t b = a + 1; b < graph_.threads.size(); ++b) {
        const Pair& forth = pairs_[a * graph_.threads.size() + b];
        const Pair& back = pairs_[b * graph_.threads.size() + a];
        if (forth.shared + back.shared == 0) continue;
        graph_.add(ThreadId{a}, ThreadId{b}, {{forth.shared, back.shared}, {forth.dependent, back.dependent}});
      }
    }
  }

  void share(const Active& writers, const Active& readers, std::uint64_t bytes) {
    for (const std::uint32_t writer : writers.threads) {
      for (const std::uint32_t reader : readers.threads) {
        if (writer == reader) continue;
        Pair& pair = pairs_[writer * graph_.threads.size() + reader];
        pair.shared += bytes;
        if (any_concurrent(writers.parts[writer], readers.parts[reader])) pair.dependent += bytes;
      }
    }
  }
  bool any_concurrent(const std::vector<std::uint32_t>& some, const std::vector<std::uint32_t>& others) const {
    return std::any_of(some.begin(), some.end(), [&](std::uint32_t a) {
      return std::any_of(others.begin(), others.end(), [&](std::uint32_t b) { return concurrent(parts_[a], parts_[b]); });
    });
  }

  const Workload& workload_;
  unsigned team_;
  LineTouches touches_;
  ThreadGraph graph_;
  ThreadStages stages_;
  std::vector<Pair> pairs_;  // [writer * threads + reader]: every stretch of bytes adds to many of them
  bool creates_threads_ = creates_threads(), in_team_ = false;
  std::vector<Part> parts_;
  std::map<std::tuple<std::size_t, bool, std::uint32_t>, std::size_t> part_index_;
  std::map<std::size_t, std::size_t> runner_;  // of the routine of a created thread
  std::vector<LineTouch> group_;
};

}  // namespace

ThreadGraph thread_graph(const Workload& workload, unsigned team) {
  constexpr unsigned most = 4096;  // what each pair exchanges is kept
  if (team > most)
    throw UsageError("who exchanges data with whom in a team of " + std::to_string(team) + " threads; allowed: at most 4096");
  return Builder{workload, team}.build();
}

std::shared_ptr<const ThreadGraph> known_thread_graph(const Workload& workload, unsigned team) {
  constexpr unsigned most = 256;  // threads: some megabytes
  if (team > most) return std::make_shared<const ThreadGraph>(thread_graph(workload, team));
  return workload.thread_graphs.get(std::to_string(team), [&] { return thread_graph(workload, team); });
}

}  // namespace homenode
