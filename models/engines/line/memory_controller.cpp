#include "models/engines/line/memory_controller.hpp"

#include <algorithm>
#include <cmath>

#include "sim/machine/mixed_bits.hpp"

namespace homenode {
namespace {

std::int64_t picoseconds(double seconds) { return std::llround(seconds * 1e12); }

}  // namespace

MemoryController::MemoryController(const DramDescription& dram, LineCosts costs, std::uint64_t page_lines)
    : activate_{dram.activate.count()},
      precharge_{dram.precharge.count()},
      column_{dram.column.count()},
      row_cycle_{dram.row_cycle.count()},
      row_closes_after_{dram.row_closes_after.count()},
      read_bus_{picoseconds(costs.read * dram.channels)},
      write_bus_{picoseconds(costs.write * dram.channels)},
      write_batch_{dram.write_batch},
      page_lines_{page_lines},
      channels_(dram.channels) {
  for (Channel& channel : channels_) channel.banks.resize(dram.banks);
}

std::int64_t MemoryController::read(LineNumber line, std::int64_t now) {
  Channel& channel = channels_[line.value() % channels_.size()];
  const std::uint64_t page = line.value() / page_lines_;
  Bank& bank = channel.banks[mixed_bits(page) % channel.banks.size()];
  std::int64_t column_at = now;
  const bool open = now - bank.used <= row_closes_after_;
  if (open && (bank.row == page || bank.row_before == page)) {
    ++row_hits_;
    if (bank.row != page) std::swap(bank.row, bank.row_before);
    column_at = std::max(now, bank.activate - row_cycle_ + activate_);  // the row may still be on its way
  } else {
    const std::int64_t activated = std::max(now + (open ? precharge_ : 0), bank.activate);
    bank.activate = activated + row_cycle_;
    column_at = activated + activate_;
    bank.row_before = open ? bank.row : ~std::uint64_t{0};
    bank.row = page;
  }
  bank.used = std::max(bank.used, column_at);
  const std::int64_t turn = std::max(channel.bus_free, now + column_);
  channel.bus_free = turn + read_bus_;
  use_bus(turn, channel.bus_free);
  return std::max(column_at + column_, turn);
}

std::int64_t MemoryController::write(LineNumber line, std::int64_t now) {
  Channel& channel = channels_[line.value() % channels_.size()];
  const std::int64_t batch = write_batch_ * write_bus_;
  const std::int64_t accepted = std::max(now, channel.bus_free - 2 * batch);
  if (++channel.pending >= write_batch_) {
    channel.pending = 0;
    channel.bus_free = std::max(channel.bus_free, now) + batch;
    use_bus(channel.bus_free - batch, channel.bus_free);
  }
  return accepted;
}

void MemoryController::use_bus(std::int64_t from, std::int64_t to) {
  busy_ += to - from;
  if (timeline_ == nullptr) return;
  const double seconds = static_cast<double>(to - from) * 1e-12 / static_cast<double>(channels_.size());
  timeline_->used(resource_, Time::picoseconds(from), Time::picoseconds(to), seconds);
}

}  // namespace homenode
