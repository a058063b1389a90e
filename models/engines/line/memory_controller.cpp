#include "models/engines/line/memory_controller.hpp"

#include <algorithm>
#include <cmath>

#include "sim/machine/mixed_bits.hpp"

namespace homenode {
namespace {

// JEDEC's DDR2 and DDR3; later ranks have more, in groups.
constexpr std::size_t banks_without_groups = 8;

std::int64_t picoseconds(double seconds) { return std::llround(seconds * 1e12); }

// As many times the channels described as the measured bandwidth takes.
std::size_t channels_of(const DramDescription& dram, LineCosts costs) {
  const double needed = static_cast<double>(dram.burst.count()) / (costs.read * 1e12) / dram.channels;
  return dram.channels * static_cast<std::size_t>(std::max(1.0, std::ceil(needed - 1e-6)));
}

}  // namespace

MemoryController::MemoryController(const DramDescription& dram, LineCosts costs, std::uint64_t page_lines)
    : activate_{dram.activate.count()},
      precharge_{dram.precharge.count()},
      column_{dram.column.count()},
      row_cycle_{dram.row_cycle.count()},
      row_closes_after_{dram.row_closes_after.count()},
      refresh_interval_{dram.refresh_interval.count()},
      refresh_time_{dram.refresh_time.count()},
      refresh_wait_{refresh_interval_ > 0 ? refresh_time_ * refresh_time_ / (2 * refresh_interval_) : 0},
      write_batch_{dram.write_batch},
      banks_of_rank_{dram.banks / dram.ranks},
      page_lines_{page_lines} {
  const bool dimms = dram.burst.count() > 0;
  const std::size_t channels = channels_of(dram, costs);
  const auto of_channel = [&](double cost) { return picoseconds(cost * static_cast<double>(channels)); };
  const TimeSlots bus{dimms ? dram.burst.count() : of_channel(costs.read)};
  batch_ = dimms ? write_batch_ * bus.width() + dram.turn_around.count() : write_batch_ * of_channel(costs.write);
  if (dimms && banks_of_rank_ > banks_without_groups) neighbour_bank_ = banks_of_rank_ / 2;
  batch_bursts_ = static_cast<unsigned>((batch_ + bus.width() / 2) / bus.width());
  if (dimms) {
    pace_ = picoseconds(costs.read);
    write_pace_ = picoseconds(costs.write);
  }
  for (std::size_t c = 0; c < channels; ++c) {
    Channel& channel = channels_.emplace_back(Channel{.bus = bus, .banks = std::vector<Bank>(dram.banks), .ranks = {}});
    for (std::size_t r = 0; r < dram.ranks; ++r) {
      const auto turn = static_cast<std::int64_t>(c * dram.ranks + r), all = static_cast<std::int64_t>(channels * dram.ranks);
      Rank& rank = channel.ranks.emplace_back(Rank{refresh_interval_ * turn / all - refresh_interval_, {}});
      if (dram.four_activates.count() > 0) rank.activations.emplace(dram.four_activates.count() / 4);
    }
  }
}

std::int64_t MemoryController::read(LineNumber line, std::int64_t now) {
  Channel& channel = channels_[line.value() % channels_.size()];
  const std::uint64_t page = line.value() / page_lines_, of_channel = line.value() / channels_.size();
  const std::size_t bank_of_page = mixed_bits(page) % channel.banks.size();
  const std::size_t rank_number = bank_of_page / banks_of_rank_;
  const std::size_t number = rank_number * banks_of_rank_ + (bank_of_page + (of_channel % 2 == 0 ? 0 : neighbour_bank_)) % banks_of_rank_;
  Bank& bank = channel.banks[number];
  Rank& rank = channel.ranks[rank_number];
  const std::int64_t ready = column_of(bank, rank, page, now) + column_;
  if (pace_ == 0) {
    const std::int64_t turn = pass(channel.paced_until, now + column_, channel.bus.width());
    bank.used = std::max(bank.used, ready - column_);
    use_bus(turn, channel.paced_until);
    return std::max(ready, turn);
  }
  std::int64_t turn = channel.bus.take(ready, now);
  // A column that waited for the bus until a refresh waits for its row to be opened again.
  if (turn != ready) {
    const std::int64_t column = turn - column_, refreshed = after_refresh(rank, column);
    if (refreshed != column) {
      channel.bus.give_back(turn);
      turn = channel.bus.take(refreshed + activate_ + column_, now);
    }
  }
  bank.used = std::max(bank.used, turn - column_);
  use_bus(turn, turn + channel.bus.width());
  return std::max(turn, pass(paced_until_, now + column_, pace_));
}

std::int64_t MemoryController::column_of(Bank& bank, Rank& rank, std::uint64_t row, std::int64_t now) {
  if (refresh_interval_ > 0 && now >= rank.refreshed + refresh_interval_)
    rank.refreshed += (now - rank.refreshed) / refresh_interval_ * refresh_interval_;
  const bool open = now - bank.used <= row_closes_after_ && (refresh_interval_ == 0 || bank.opens >= rank.refreshed);
  if (open && bank.row == row) {
    ++row_hits_;
    return std::max(now, bank.opens);
  }
  if (open && bank.row_before == row && now <= bank.closes && (refresh_interval_ == 0 || bank.opened_before >= rank.refreshed)) {
    ++row_hits_;
    return std::max(now, bank.opened_before);
  }
  const std::int64_t closes = open ? std::max(now, bank.used) : now;
  std::int64_t activated = std::max(closes + (open ? precharge_ : 0), bank.opens - activate_ + row_cycle_);
  activated = after_refresh(rank, activated);
  if (rank.activations) activated = rank.activations->take(activated, now);
  bank.row_before = open ? bank.row : no_row;
  bank.opened_before = bank.opens;
  bank.closes = activated - precharge_;
  bank.row = row;
  bank.opens = activated + activate_;
  return bank.opens;
}

std::int64_t MemoryController::after_refresh(const Rank& rank, std::int64_t at) const {
  if (refresh_interval_ == 0) return at;
  const std::int64_t since = (at - rank.refreshed) % refresh_interval_;
  return since < refresh_time_ ? at - since + refresh_time_ : at;
}

std::int64_t MemoryController::write(LineNumber line, std::int64_t now) {
  Channel& channel = channels_[line.value() % channels_.size()];
  const std::int64_t accepted = std::max(now, channel.drained - 2 * batch_);
  if (++channel.pending < write_batch_) return accepted;
  channel.pending = 0;
  if (pace_ == 0) {
    const std::int64_t begins = pass(channel.paced_until, now, batch_);
    channel.drained = channel.paced_until;
    use_bus(begins, channel.drained);
    return accepted;
  }
  for (unsigned burst = 0; burst < batch_bursts_; ++burst) {
    const std::int64_t turn = channel.bus.take(now, now);
    channel.drained = std::max(channel.drained, turn + channel.bus.width());
    use_bus(turn, turn + channel.bus.width());
  }
  pass(paced_until_, now, write_batch_ * write_pace_);
  channel.drained = std::max(channel.drained, paced_until_);
  return accepted;
}

std::int64_t MemoryController::pass(std::int64_t& paced_until, std::int64_t from, std::int64_t pace) {
  const std::int64_t passes = std::max(paced_until, from);
  paced_until = passes + pace;
  return passes;
}

void MemoryController::use_bus(std::int64_t from, std::int64_t to) {
  busy_ += to - from;
  if (timeline_ == nullptr) return;
  const double seconds = static_cast<double>(to - from) * 1e-12 / static_cast<double>(channels_.size());
  timeline_->used(resource_, Time::picoseconds(from), Time::picoseconds(to), seconds);
}

}  // namespace homenode
