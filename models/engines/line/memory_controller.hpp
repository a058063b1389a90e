// One memory controller line by line: channels with a data bus, banks with open rows, writes gathered and drained in batches.
//
// A read that finds its bank idle and its row closed takes activate + column; of an open row, column only; of another open row, precharge
// more. A row is closed when nobody has used it for `row_closes_after`. Two activations of a bank are a row cycle apart. Then the line
// holds its channel's data bus: for as long as the controller's measured bandwidth says of reads, and as many writes as reads come at its
// bandwidth one to one (controller_costs.hpp), refresh and the bus's turning round included. Writes wait in a buffer and go to the bus
// `write_batch` at a time; a write is accepted once fewer than two batches wait.
//
// A controller that puts hits of an open row first gathers them: of each bank the two rows used last count as open together, and a line
// whose bank keeps it waiting lets others have the bus before it. The rows of writes are not followed.
// Lines of a page lie in one row a channel; which bank, and that two pages share a row by chance only, follows from random frames.
//
// Idle time: an access to an idle controller takes `idle()`, which the machine's latency contains already.
#pragma once

#include <cstdint>
#include <vector>

#include "models/engines/parts/controller_costs.hpp"
#include "sim/hardware/cache_model.hpp"
#include "sim/machine/machine.hpp"
#include "sim/report/timeline.hpp"

namespace homenode {

class MemoryController {
public:
  // All times in picoseconds. `line_costs`: of the whole controller. `page_lines`: lines of a row's page.
  MemoryController(const DramDescription&, LineCosts line_costs, std::uint64_t page_lines);

  std::int64_t idle() const { return activate_ + column_; }
  // The least that any read takes: of an open row.
  std::int64_t least() const { return column_; }
  // A read that arrives `now`, calls in order of time: when its data leave.
  std::int64_t read(LineNumber, std::int64_t now);
  // A write that arrives: when it is accepted.
  std::int64_t write(LineNumber, std::int64_t now);
  std::int64_t busy() const { return busy_; }  // of all channels' buses
  // Tells the timeline from here on what it uses of itself, as this resource.
  void set_timeline(Timeline* timeline, std::size_t resource) {
    timeline_ = timeline;
    resource_ = resource;
  }

  std::uint64_t row_hits() const { return row_hits_; }

private:
  struct Bank {
    std::uint64_t row = ~std::uint64_t{0}, row_before = ~std::uint64_t{0};
    std::int64_t activate = 0;  // earliest next activation
    std::int64_t used = INT64_MIN / 2;
  };
  struct Channel {
    std::int64_t bus_free = 0;
    unsigned pending = 0;  // writes
    std::vector<Bank> banks;
  };

  void use_bus(std::int64_t from, std::int64_t to);

  std::int64_t activate_, precharge_, column_, row_cycle_, row_closes_after_;
  std::int64_t read_bus_, write_bus_;  // a line, of one channel
  unsigned write_batch_;
  std::uint64_t page_lines_;
  std::int64_t busy_ = 0;
  std::uint64_t row_hits_ = 0;
  std::vector<Channel> channels_;
  Timeline* timeline_ = nullptr;
  std::size_t resource_ = 0;
};

}  // namespace homenode
