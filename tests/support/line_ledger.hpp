// Random calls on a cache model, and a ledger of what is known of each line without any cache: whether it was touched since it was dropped,
// and whether memory has older data.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "sim/hardware/cache_model.hpp"
#include "sim/machine/machine.hpp"

namespace homenode::test {

inline constexpr LineNumber first_line{std::uint64_t{1} << 26};

template <class Ranges>
std::map<LineNumber, unsigned> counted(const Ranges& ranges) {
  std::map<LineNumber, unsigned> lines;
  for (const auto& range : ranges) {
    LineRange part;
    if constexpr (std::is_same_v<std::decay_t<decltype(range)>, LineRange>)
      part = range;
    else
      part = range.lines;
    for (LineNumber line = part.first; line < part.last; ++line) ++lines[line];
  }
  return lines;
}

class Ledger {
public:
  // `at_once`: a line may leave the caches in the call that writes it, as where victims are random. If such a line is written back, it is
  // not known whether before the store or behind it.
  explicit Ledger(bool at_once = false) : at_once_{at_once} {}
  void access(const std::vector<LineTouch>& group, const CacheOutcome& outcome) {
    std::uint64_t lines = 0, accesses = 0;
    std::map<LineNumber, unsigned> written, bypassed;
    const auto reads = counted(outcome.reads), transfers = counted(outcome.transfers);
    std::map<LineNumber, unsigned> writebacks = counted(outcome.writebacks);
    for (const auto& [line, times] : counted(outcome.written_earlier)) writebacks[line] += times;
    for (const LineTouch& touch : group) {
      accesses += touch.accesses;
      const bool cached = touch.reads || !touch.non_temporal;
      if (cached) lines += touch.lines.size();
      for (LineNumber line = touch.lines.first; line < touch.lines.last; ++line) {
        if (touch.non_temporal && touch.writes)
          bypassed[line] = 1;
        else if (touch.writes)
          written[line] = 1;
        if (!cached) continue;
        EXPECT_TRUE(touched_.count(line) || reads.count(line)) << "line " << line.value() << " came from nowhere";
        touched_.insert({line, true});
      }
    }
    // Each line that is asked for comes from one place.
    const std::uint64_t hits = std::accumulate(outcome.hit_lines.begin(), outcome.hit_lines.end(), std::uint64_t{0});
    EXPECT_EQ(hits + sum(reads) + sum(transfers), lines);
    EXPECT_EQ(outcome.accesses, accesses);
    EXPECT_EQ(counted(outcome.non_temporal_writes), bypassed);
    for (const auto& [line, times] : transfers) unneeded += !newer(line);
    for (const auto& [line, times] : writebacks) {
      const unsigned most = unsigned{newer(line)} + static_cast<unsigned>(written.count(line));
      unneeded += times > most ? times - most : 0;
      written_back += times;
    }
    for (const auto& [line, once] : written) {
      const auto found = writebacks.find(line);
      const unsigned times = found == writebacks.end() ? 0 : found->second;
      newer_[line] = at_once_ && times > 0 ? Newer::perhaps : unsigned{newer(line)} + 1 > times ? Newer::yes : Newer::no;
    }
    for (const auto& [line, times] : writebacks)
      if (written.count(line) == 0) newer_.erase(line);
    for (const auto& [line, times] : bypassed) forget(line);
  }
  void drop(LineRange lines, bool discard, const CacheOutcome& outcome) {
    Lines expected;
    for (LineNumber line = lines.first; line < lines.last; ++line) {
      if (newer(line) && !discard) expected[line] = newer_.at(line);
      forget(line);
    }
    compare(counted(outcome.writebacks), expected);
    EXPECT_TRUE(outcome.reads.empty() && outcome.transfers.empty());
  }
  void flush(const CacheOutcome& outcome) {
    const Lines expected = newer_;
    newer_.clear();
    compare(counted(outcome.writebacks), expected);
  }

  std::uint64_t written_back = 0;
  std::uint64_t lost = 0;      // newest data that never came to memory
  std::uint64_t unneeded = 0;  // lines that memory had already, written back or transferred as if it had not

private:
  enum class Newer : std::uint8_t { no, perhaps, yes };  // than memory
  using Lines = std::map<LineNumber, Newer>;
  static std::uint64_t sum(const std::map<LineNumber, unsigned>& lines) {
    std::uint64_t all = 0;
    for (const auto& [line, times] : lines) all += times;
    return all;
  }
  void compare(const std::map<LineNumber, unsigned>& found, const Lines& expected) {
    const auto is_newer = [&](LineNumber line) { return expected.count(line) > 0 && expected.at(line) != Newer::no; };
    for (const auto& [line, times] : found) unneeded += times - std::min(times, unsigned{is_newer(line)});
    for (const auto& [line, newer] : expected) lost += newer == Newer::yes && found.count(line) == 0;
    written_back += sum(found);
  }
  bool newer(LineNumber line) const {
    const auto found = newer_.find(line);
    return found != newer_.end() && found->second != Newer::no;
  }
  void forget(LineNumber line) {
    touched_.erase(line);
    newer_.erase(line);
  }

  bool at_once_;
  std::map<LineNumber, bool> touched_;
  Lines newer_;
};

// One call on a cache model. Touches of a group are in order of their addresses, as LineTouches yields them.
struct Call {
  enum Kind : std::uint8_t { access, drop, discard, flush } kind = access;
  CoreId core;
  std::vector<LineTouch> group;
  LineRange lines;
};

inline Call random_call(std::mt19937_64& random, std::size_t cores, std::uint64_t space) {
  Call call;
  const auto range = [&](std::uint64_t longest) {
    const std::uint64_t size = 1 + random() % longest;
    const LineNumber first = first_line + random() % (space - size);
    return LineRange{first, first + size};
  };
  call.core = CoreId{static_cast<std::size_t>(random() % cores)};
  const auto kind = random() % 100;
  if (kind >= 97) {
    call.kind = kind == 99 ? Call::discard : kind == 98 ? Call::drop : random() % 8 == 0 ? Call::flush : Call::drop;
    call.lines = range(40);
    return call;
  }
  const bool bypasses = kind < 6;
  for (auto touches = bypasses ? 1 : 1 + random() % 3; touches > 0; --touches) {
    LineTouch touch;
    touch.lines = range(6);
    touch.writes = bypasses || random() % 3 == 0;
    touch.reads = bypasses ? kind < 2 : !touch.writes || random() % 2 == 0;
    touch.non_temporal = bypasses;
    touch.parallelism = static_cast<float>(1 + random() % 8);
    touch.accesses = touch.lines.size() * (1 + random() % 8);
    call.group.push_back(touch);
  }
  std::sort(call.group.begin(), call.group.end(), [](const LineTouch& a, const LineTouch& b) { return a.lines.first < b.lines.first; });
  return call;
}

inline std::vector<Call> random_calls(const Machine& machine, std::uint64_t seed, std::size_t count) {
  std::mt19937_64 random{seed};
  const auto lines = static_cast<std::uint64_t>(machine.caches.back().size.count() / 64),
             space = std::max<std::uint64_t>(lines, 64) * (1 + seed % 3);
  std::vector<Call> calls;
  for (std::size_t i = 0; i < count; ++i) calls.push_back(random_call(random, machine.cores(), space));
  return calls;
}

inline CacheOutcome make(const Call& call, CacheModel& model) {
  CacheOutcome outcome;
  switch (call.kind) {
    case Call::access: model.access(call.core, call.group, outcome); break;
    case Call::drop:
    case Call::discard: model.drop(call.lines, call.kind == Call::discard, outcome); break;
    case Call::flush: model.flush(outcome); break;
  }
  return outcome;
}

}  // namespace homenode::test
