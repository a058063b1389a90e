// One memory controller line by line: channels with a data bus, ranks, banks with open rows, writes gathered and drained in batches.
//
// A read that finds its bank idle and its row closed takes activate + column; of an open row, column only; of another open row, precharge
// more. A row is closed when nobody has used it for `row_closes_after`, and by a refresh. Two activations of a bank are a row cycle apart,
// five of a rank four_activates (one begins each quarter of it). While a rank is refreshed, refresh_time every refresh_interval, nothing of
// it is activated; ranks and channels take turns. Then the line holds its channel's data bus for `burst`.
//
// Order: lines ask in the order in which they come, and each gets the first time at which its bank, its rank and the bus are free. So a
// line whose bank keeps it waiting lets others have the bus before it, and lines of a row that is still open go before the row that is
// next (first ready, first come, first served). A row has the lines that come before its bank is precharged; of each bank the row on its
// way and the one before it are known.
//
// Writes wait in a buffer and go to the bus `write_batch` at a time, which costs the bus turn_around beside their bursts; a write is
// accepted once fewer than two batches wait. The rows of writes are not followed.
// Lines of a page lie in one row a channel; which bank, and that two pages share a row by chance only, follows from random frames.
//
// What the DIMMs deliver then follows from these. What else lies between them and the cores is known by the machine's measured bandwidths
// only (controller_costs.hpp): in the order in which lines come, none leaves before its turn at these. Where the description has no
// `burst`, refresh and turning are in the measured bandwidths, which then are the channels' own. A controller that was measured at more
// than the channels that are described has as many times these as it takes (HBM beside DIMMs).
//
// Idle time: a read takes `idle()` of an idle controller on average, which the machine's latency contains already: activate, column, and
// the wait for a refresh under way, refresh_time^2 / (2 refresh_interval).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/engines/line/time_slots.hpp"
#include "models/engines/parts/controller_costs.hpp"
#include "sim/hardware/cache_model.hpp"
#include "sim/machine/machine.hpp"
#include "sim/report/timeline.hpp"

namespace homenode {

class MemoryController {
public:
  // All times in picoseconds. `line_costs`: of the whole controller. `page_lines`: lines of a row's page.
  MemoryController(const DramDescription&, LineCosts line_costs, std::uint64_t page_lines);

  std::int64_t idle() const { return activate_ + column_ + refresh_wait_; }
  // The least that any read takes: of an open row.
  std::int64_t least() const { return column_; }
  // A read that arrives `now`, calls in order of time: when its data leave.
  std::int64_t read(LineNumber, std::int64_t now);
  // A write that arrives: when it is accepted.
  std::int64_t write(LineNumber, std::int64_t now);
  std::int64_t busy() const { return busy_; }  // of all channels' buses
  std::size_t channels() const { return channels_.size(); }
  // Tells the timeline from here on what it uses of itself, as this resource.
  void set_timeline(Timeline* timeline, std::size_t resource) {
    timeline_ = timeline;
    resource_ = resource;
  }

  std::uint64_t row_hits() const { return row_hits_; }

private:
  static constexpr std::uint64_t no_row = ~std::uint64_t{0};
  static constexpr std::int64_t long_ago = INT64_MIN / 2;
  struct Bank {
    std::uint64_t row = no_row, row_before = no_row;
    std::int64_t opens = long_ago, opened_before = long_ago;  // from when on a column of these can be asked for
    std::int64_t closes = long_ago;                           // when the row before is precharged
    std::int64_t used = long_ago;                             // its last column
  };
  struct Rank {
    std::int64_t refreshed;                // when its last refresh began
    std::optional<TimeSlots> activations;  // by quarters of four_activates
  };
  struct Channel {
    TimeSlots bus;
    std::int64_t paced_until = 0;  // without bursts: of the bus
    unsigned pending = 0;          // writes
    std::int64_t drained = 0;      // when the last batch leaves the bus
    std::vector<Bank> banks;
    std::vector<Rank> ranks;
  };

  // The next time, from `at` on, at which the rank is not being refreshed.
  std::int64_t after_refresh(const Rank&, std::int64_t at) const;
  // When the column of a line of this row can be asked for.
  std::int64_t column_of(Bank&, Rank&, std::uint64_t row, std::int64_t now);
  // What lies between the channels and the cores, at the measured bandwidths: when a use of it, from then on at the earliest, begins.
  static std::int64_t pass(std::int64_t& paced_until, std::int64_t from, std::int64_t pace);
  void use_bus(std::int64_t from, std::int64_t to);

  std::int64_t activate_, precharge_, column_, row_cycle_, row_closes_after_;
  std::int64_t refresh_interval_, refresh_time_, refresh_wait_;
  std::int64_t batch_;     // of writes, on one channel's bus
  unsigned batch_bursts_;  // the same in bursts
  unsigned write_batch_;
  std::size_t banks_of_rank_;
  std::size_t neighbour_bank_ = 0;  // how far off neighbouring lines of a row's page are
  std::uint64_t page_lines_;
  std::int64_t busy_ = 0;
  std::uint64_t row_hits_ = 0;
  std::vector<Channel> channels_;
  // Of all channels, a line at the measured bandwidths (0: they are the channels' own), and when the next one can pass.
  std::int64_t pace_ = 0, write_pace_ = 0, paced_until_ = 0;
  Timeline* timeline_ = nullptr;
  std::size_t resource_ = 0;
};

}  // namespace homenode
