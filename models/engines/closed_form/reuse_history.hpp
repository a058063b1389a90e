// Who touched each line last, and how many other lines were touched since: the stack distance of Mattson et al. (IBM Systems Journal
// 9(2), 1970) of a program whose iterations run one after the other. Lines with one past are kept as one range.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/hardware/cache_model.hpp"

namespace homenode {

// Executions that do the same to the same objects are one loop.
using LoopNumber = std::uint32_t;
inline constexpr LoopNumber no_loop = ~LoopNumber{0};
inline constexpr std::uint32_t no_cell = ~std::uint32_t{0};

// What executions before the present one did to a range of lines.
struct LinePast {
  LoopNumber loop = no_loop;                    // the last one that touched them
  std::uint32_t first_cell = 0, last_cell = 0;  // of it, between which all cells that touched them are
  LoopNumber writer = no_loop;                  // the last one that wrote them
  std::uint32_t writer_cell = 0;
  float tail = 0, since = 0;  // other lines touched since: by that loop itself, by those after it
};

// A range of lines with one past, at one touch.
struct LineReuse {
  LineRange lines;
  LinePast past;
  std::uint32_t cell_before = no_cell;  // of the present execution, the last to touch them
  bool written_before = false;          // by that one
  float distance = 0;                   // other lines touched since
};

class ReuseHistory {
public:
  void begin_execution(LoopNumber);
  // One lockstep group: look all its ranges up, then touch each.
  void begin_group() { live_.push_back(0), grow(); }
  void look_up(LineRange, std::vector<LineReuse>&) const;
  void touch(const LineReuse&, std::uint32_t cell, bool writes);
  // Lines that no cache holds any more.
  void forget(LineRange);
  // Ranges of lines that are kept.
  std::size_t size() const { return ranges_.size(); }

private:
  struct Range {
    LineNumber last;
    std::uint64_t group = 0, execution = 0;
    std::uint32_t first_cell = 0, last_cell = 0, cell = 0;
    LoopNumber loop = no_loop, writer = no_loop;
    std::uint32_t writer_cell = 0;
    bool written = false;  // by `cell`
    LinePast past;         // before `execution`
  };
  using Ranges = std::map<LineNumber, Range>;
  static constexpr unsigned chunk_shift = 6;
  using Chunk = std::array<Ranges::value_type*, 1 << chunk_shift>;

  void grow();
  void add(std::uint64_t group, std::int64_t lines);
  std::int64_t up_to(std::uint64_t group) const;  // lines whose last touch lies in a group before `group`
  float since(std::uint64_t group) const { return static_cast<float>(all_ - up_to(group)); }
  template <class Map>
  static auto first_behind(Map&, LineNumber);
  Ranges::iterator cut_out(LineRange);
  LineReuse reuse_of(LineRange, const Range&) const;
  Range touched(const LineReuse&, std::uint32_t cell, bool writes) const;
  void pass_on(LineNumber first, const Range& old, Range& next);
  Ranges::value_type* single(LineNumber) const;
  void enter(Ranges::iterator);
  void leave(Ranges::iterator);

  Ranges ranges_;  // by first line
  // Those of one line, by its number: programs that read single lines have millions, and a search for each would take most of the time.
  std::unordered_map<std::uint64_t, std::unique_ptr<Chunk>> singles_;
  std::vector<std::int64_t> live_;  // by group: lines touched in it last
  std::vector<std::int64_t> tree_;  // Fenwick tree over live_
  std::int64_t all_ = 0;
  std::uint64_t execution_ = 0;
  std::vector<std::uint64_t> end_of_;  // by execution: the first group behind it
  LoopNumber loop_ = no_loop;
};

}  // namespace homenode
