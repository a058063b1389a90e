// Runs and single accesses of the stream find their objects and go to the folder of the item that runs.
#include <algorithm>

#include "sim/base/errors.hpp"
#include "traces/capture/assembler/state.hpp"

extern "C" {
#include "traces/capture/runtime/stream.h"
}

namespace homenode {

namespace {

// Where in the object the access lies. One that ends behind the object, of a program that goes beyond its block, lies at the object's end.
std::int64_t offset_within(const ObjectMap::Place& place, std::uint64_t address, std::uint64_t width) {
  const std::uint64_t bytes = place.high - place.low, offset = address - place.low;
  return static_cast<std::int64_t>(offset + width > bytes && width <= bytes ? bytes - width : offset);
}

}  // namespace

Assembler::Pc& Assembler::pc_of(std::uint64_t id, const char* message) {
  if (id < pcs_.size()) return pcs_[id];
  throw InputError(std::string("the capture stream has a ") + message + " of unknown site " + std::to_string(id));
}

void Assembler::take_run(bool same) {
  const std::uint64_t id = in_.u64();
  Pc& pc = pc_of(id, "run");
  if (current().only_runs) pcs_of_item_.push_back(static_cast<std::uint32_t>(id));
  if (!same) pc.count = in_.u64();
  const std::uint64_t base = pc.previous + static_cast<std::uint64_t>(in_.i64());
  const std::uint64_t sequence = in_.u64();
  if (!same) {
    pc.stride = 0, pc.dsequence = 0;
    if (pc.count > 1) pc.stride = in_.i64(), pc.dsequence = in_.u64();
    pc.distance = in_.u64();
  }
  pc.previous = base;
  place(current(), pc, base, sequence, pc.count, pc.stride, pc.dsequence, pc.distance);
}

void Assembler::take_short(bool pair) {
  const std::uint8_t* const m = in_.bytes((pair ? HN_PAIR_BYTES : HN_ACCESS_BYTES) - 1);
  const auto little = [m](unsigned at, unsigned bytes) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) value |= std::uint64_t{m[at + i]} << (8 * i);
    return value;
  };
  const std::uint64_t id = little(0, 2);
  Pc& pc = pc_of(id, "run");
  Rank& rank = current();
  if (rank.only_runs) pcs_of_item_.push_back(static_cast<std::uint32_t>(id));
  pc.previous += static_cast<std::uint64_t>(static_cast<std::int64_t>(little(6, 6) << 16) >> 16);
  if (pair) {
    pc.count = 2;
    pc.stride = static_cast<std::int32_t>(little(12, 4));
    pc.dsequence = little(16, 2);
    pc.distance = 0;
    place(rank, pc, pc.previous, little(2, 4), 2, pc.stride, pc.dsequence, 0);
  } else {
    place(rank, pc, pc.previous, little(2, 4), 1, 0, 0, little(12, 2));
  }
}

void Assembler::take_column() {
  const std::uint64_t id = in_.u64();
  Pc& pc = pc_of(id, "column");
  const std::uint64_t n = in_.u64();
  std::uint64_t sequence = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    pc.previous += static_cast<std::uint64_t>(in_.i64());
    sequence += in_.u64();
    place(current(), pc, pc.previous, sequence, 1, 0, 0, in_.u64());
  }
}

// A run that walks over several objects is cut at their borders.
void Assembler::place(Rank& rank, Pc& pc, std::uint64_t base, std::uint64_t sequence, std::uint64_t count, std::int64_t stride,
                      std::uint64_t dsequence, std::uint64_t distance) {
  if (!zero_fills_.empty()) {
    const auto site = static_cast<std::size_t>(&pc - pcs_.data());
    const bool in_order = pc.width > 0 && (count == 1 || (stride == pc.width && dsequence == 1));
    const std::uint64_t step = pc.bulk ? std::uint64_t{HN_BULK_BYTES} : pc.width;
    if (fills_with_zeros(pc, {site, base, sequence, count, pc.width, distance, step}, in_order)) return;
  }
  rank.accesses += count;
  result_.accesses += count;
  sequence -= rank.before;
  if (sequence == 0) rank.first_site = pc.site;
  if (thread_ != 0 && bodies_[thread_ - 1].own_site == SiteId{0}) note_own_site(pc.site);
  if (count <= 2 && !pc.bulk && (pc.kind != AccessKind::write || streamable_.empty())) {
    // One access, or two that the runtime joined: the folder takes them one by one.
    const auto site = static_cast<std::size_t>(&pc - pcs_.data());
    while (count > 0) {
      objects_.locate(pc.place, base);
      if (!rank.folder.add_single(site, pc.place.object, distance, offset_within(pc.place, base, pc.width), sequence)) break;
      --count;
      base += static_cast<std::uint64_t>(stride);
      sequence += dsequence;
    }
  }
  while (count > 0) {
    objects_.locate(pc.place, base);
    std::uint64_t here = count;
    if (stride > 0) {
      here = std::min(count, (pc.place.high - 1 - base) / static_cast<std::uint64_t>(stride) + 1);
    } else if (stride < 0) {
      here = std::min(count, (base - pc.place.low) / (~static_cast<std::uint64_t>(stride) + 1) + 1);
    }
    here = std::min<std::uint64_t>(here, UINT32_MAX);
    const std::uint64_t last = stride < 0 ? base : base + (here - 1) * static_cast<std::uint64_t>(stride);
    if (last + pc.width > pc.place.high && stride != 0 && here > 1) here = stride < 0 ? 1 : here - 1;  // that one by itself
    PlacedRun placed;
    placed.object = pc.place.object;
    // Of a bulk operation the part in the object is taken.
    placed.run.width = pc.bulk ? static_cast<std::uint16_t>(std::min<std::uint64_t>(pc.width, pc.place.high - base)) : pc.width;
    placed.run.kind = pc.kind;
    placed.run.bulk = pc.bulk;
    placed.run.site = pc.site;
    placed.run.producer_distance = static_cast<std::uint32_t>(std::min<std::uint64_t>(distance, UINT32_MAX));
    placed.run.offset = offset_within(pc.place, base, placed.run.width);
    placed.run.sequence = sequence;
    placed.run.streamable = pc.kind == AccessKind::write && !streamable_.empty() && streamable_.contains(pc.place.object.value());
    if (here > 1) {
      placed.run.dimensions = 1;
      placed.run.dimension[0] = {static_cast<std::uint32_t>(here), stride, static_cast<std::uint32_t>(dsequence)};
    }
    rank.folder.add(static_cast<std::size_t>(&pc - pcs_.data()), placed);
    count -= here;
    base += here * static_cast<std::uint64_t>(stride);
    sequence += here * dsequence;
  }
}

// Whether nothing is to be done about these writes now: they may be the fill of a block, or were the last part of one.
bool Assembler::fills_with_zeros(const Pc& pc, const ZeroFill::Writes& writes, bool in_order) {
  if (pc.kind == AccessKind::write && in_order) {
    std::uint64_t bytes = filled_with_zeros_;
    for (const ZeroFill& fill : zero_fills_) bytes += fill.bytes();
    for (ZeroFill& fill : zero_fills_) {
      if (!fill.fits(writes, bytes - fill.bytes()) || program_.stores(pc.site)) continue;
      fill.keep(writes);
      if (fill.is_whole()) leave_out(fill);
      return true;
    }
  }
  // Runs of one instruction are placed in the order of their sequence.
  end_zero_fills([&](const ZeroFill& fill) { return fill.keeps(writes.site); });
  return false;
}

// The accesses keep their numbers in the item's sequence, as what comes behind them is told by those.
void Assembler::leave_out(const ZeroFill& whole) {
  for (const ZeroFill::Writes& writes : whole.kept()) current().accesses += writes.count;
  current().folder.zero_block(whole.event());
  filled_with_zeros_ += whole.bytes();
  std::erase_if(zero_fills_, [&](const ZeroFill& fill) { return &fill == &whole; });
}

// Of blocks that were not filled in one go the writes are as any others.
void Assembler::end_zero_fills(const std::function<bool(const ZeroFill&)>& ends) {
  if (zero_fills_.empty()) return;
  std::vector<ZeroFill> ended;
  std::erase_if(zero_fills_, [&](const ZeroFill& fill) {
    if (!ends(fill)) return false;
    ended.push_back(fill);
    return true;
  });
  for (const ZeroFill& fill : ended)
    for (const ZeroFill::Writes& writes : fill.kept())
      place(current(), pcs_[writes.site], writes.base, writes.sequence, writes.count, static_cast<std::int64_t>(writes.width), 1,
            writes.distance);
}

}  // namespace homenode
