// What the iterations of a program ask of memory, told once from the trace: for the closed form (closed_form.hpp).
//
// Iterations of an execution are taken together in cells, at most `most_cells`. A cell has its core time, the hits in the private caches
// that any schedule of whole cells leaves to it, and parts: ranges of lines by what happened to them before, in the same execution (which
// cell touched them, how many lines ago) and before it (which cells of which loop, and who wrote them). A schedule then says which of
// these were the same thread, and the sizes of caches where the lines are.
//
// Executions that do the same to the same objects are one loop. Its first execution and its second one are told apart (cold and warm);
// later ones are taken for the second. Stacks and other objects private to a thread are left out: they stay in its innermost cache.
//
// Of a program that touches very many single lines one in N is followed, the same of each page (line_sample.hpp), and counts for N. Pages
// that are written first are those of all lines.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "models/caches/line_sample.hpp"
#include "models/caches/recency_stack.hpp"
#include "models/engines/closed_form/reuse_history.hpp"
#include "sim/machine/machine.hpp"
#include "sim/memory/address_space.hpp"
#include "sim/program/line_touches.hpp"
#include "sim/program/workload.hpp"

namespace homenode {

// Lines of one past, wherever they lie.
struct TrafficPart : LineReuse {
  std::vector<LineRange> ranges;  // of kept lines, as the table numbers them; `lines` is the last of them
  double count = 0;               // of lines that they stand for
  float parallelism = 1;
  float share = 1;  // of the lines; the private caches hold the others whatever the schedule
  bool reads = false, writes = false, non_temporal = false;
  std::uint8_t waited = 0;  // as LineTouch has it; 0 of streams
};

struct TrafficCell {
  double core_seconds = 0;
  double loads = 0;  // instructions
  std::size_t first_part = 0, last_part = 0;
};

// A page that the execution is the first to write, by cells between these.
struct FreshPage {
  PageNumber page;
  std::uint32_t first_cell = 0, last_cell = 0;
};

struct RegionTraffic {
  LoopNumber loop = no_loop;
  std::int64_t iterations = 0;
  std::vector<TrafficCell> cells;
  std::vector<TrafficPart> parts;
  std::vector<FreshPage> fresh_pages;                     // by page
  std::vector<double> hit_lines, hit_weight, hit_waited;  // [cell * levels + level], of the private caches; waited: loads (LineTouch)
  std::int64_t first_of(std::size_t cell) const {
    return static_cast<std::int64_t>(cell) * iterations / static_cast<std::int64_t>(cells.size());
  }
};

class TrafficTable {
public:
  static constexpr std::int64_t most_cells = 2048;
  static constexpr std::uint32_t analysed_executions = 2;  // of a loop
  static constexpr std::size_t most_ranges = 4'000'000;    // of lines with one past

  // Workload and machine must outlive it. Throws UsageError for regions of tasks and for threads that the program creates itself, and
  // where accesses are so scattered that they make more than `most_ranges`.
  // `code`: null where instructions count by classes. `one_in`: as CacheChoice has it.
  TrafficTable(const Workload&, const Machine&, StoreTreatment, Bytes page, std::shared_ptr<const CodeCycles> code = nullptr,
               unsigned one_in = 1);

  const RegionTraffic& traffic(ExecutionId execution) const { return traffic_[traffic_of_[execution.index()]]; }
  const std::shared_ptr<const CodeCycles>& code() const { return code_; }
  std::size_t loops() const { return loops_; }
  std::uint64_t pages() const { return pages_; }
  std::uint64_t page_bytes() const { return page_bytes_; }
  std::uint64_t lines_per_page() const { return lines_per_page_; }
  unsigned one_in() const { return sample_.one_in(); }  // lines that a kept one stands for
  // How far the lines that the sample stands for are from those that were touched, summed over regions, relative: programs that touch the
  // same few lines of every page are told wrongly by a sample.
  double sampling_error() const;
  // The object that the page belongs to, and the page's first byte in it.
  std::pair<ObjectId, std::int64_t> object_at(PageNumber) const;
  // That holds byte 0 of the object; nothing if nobody uses the object.
  std::optional<PageNumber> first_page(ObjectId) const;
  // Of a kept line's number, and back.
  PageNumber page_of(LineNumber kept) const { return PageNumber{(kept - first_kept_) / kept_per_page_}; }
  LineNumber first_line(PageNumber page) const { return first_kept_ + page.value() * kept_per_page_; }

private:
  struct Loop {
    LoopNumber number = 0;
    std::uint32_t analysed = 0;
    std::size_t traffic = 0;
  };
  Address address_of(ObjectId);
  RegionTraffic analyse(const Execution&, const ExecutionBody&, LoopNumber);
  void follow_group(RegionTraffic&, std::uint32_t cell);
  void count_lines();
  void add(RegionTraffic&, std::uint32_t cell, const LineTouch&, const LineReuse&);
  void note_writes(RegionTraffic&, std::uint32_t cell, const LineTouch&);

  const Workload& workload_;
  const Machine& machine_;
  std::uint64_t page_bytes_, lines_per_page_;
  LineTouches touches_;
  LineSample sample_;
  std::shared_ptr<const CodeCycles> code_;
  std::unique_ptr<PagePlacement> anywhere_;
  std::unique_ptr<AddressSpace> addresses_;
  std::map<Address, ObjectId> object_from_;  // by address of byte 0
  std::vector<std::uint8_t> known_;          // by object
  LineNumber first_line_, first_kept_;       // of page 0
  std::uint64_t kept_per_page_;
  std::vector<std::uint64_t> touched_, kept_;  // lines in one group of so many, by region
  std::size_t region_ = 0, groups_ = 0;        // in hand; so far
  std::vector<LineNumber> left_out_;           // scratch
  std::uint64_t pages_ = 0;
  std::vector<std::uint8_t> written_pages_;
  std::unordered_map<PageNumber, std::size_t> fresh_;  // page -> entry of the execution in hand
  ReuseHistory history_;
  std::size_t levels_of_core_ = 0;  // private ones
  float miss_buffers_ = 1;
  StackBounds private_bounds_;
  std::vector<LineTouch> group_;
  std::vector<LineReuse> found_;
  std::vector<std::size_t> touch_of_;
  std::unordered_map<std::uint64_t, Loop> loop_of_;  // by what the execution does
  std::vector<RegionTraffic> traffic_;
  std::vector<std::size_t> traffic_of_;  // by execution
  std::size_t loops_ = 0;
};

// The levels at the start of the hierarchy that each core has for itself.
std::size_t private_levels(const Machine&);
// Capacities in lines of levels [first, last), each with what lies inside of it where it is exclusive.
std::vector<StackLevel> stack_levels(const Machine&, std::size_t first, std::size_t last);
// The chance that the level of a stack holds a line at this distance.
double chance_to_hold(const StackBounds&, std::size_t level, double distance);

}  // namespace homenode
