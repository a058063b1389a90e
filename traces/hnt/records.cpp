#include "traces/hnt/records.hpp"

namespace homenode::format {
namespace {

template <class Enum>
Enum enumerator(Decoder& in, std::uint64_t limit, const char* what) {
  return static_cast<Enum>(in.below(limit, what));
}

void put(Encoder& out, const WorkCounts& w) {
  for (const double value : {w.instructions, w.integer, w.fp_add, w.fp_multiply, w.fp_fma, w.divide, w.load, w.store, w.branch})
    out.real(value);
}
void get(Decoder& in, WorkCounts& w) {
  for (double* value : {&w.instructions, &w.integer, &w.fp_add, &w.fp_multiply, &w.fp_fma, &w.divide, &w.load, &w.store, &w.branch})
    *value = in.real();
}

void put(Encoder& out, const AccessRun& run) {
  out.u64(run.slot);
  out.u64(run.width);
  out.u64(static_cast<std::uint64_t>(run.kind) | (run.streamable ? 4u : 0u) | (run.bulk ? 8u : 0u));
  out.u64(run.dimensions);
  out.u64(run.producer_distance);
  out.u64(run.site.value());
  out.i64(run.offset);
  out.u64(run.sequence);
  for (unsigned d = 0; d < run.dimensions; ++d) {
    out.u64(run.dimension[d].count);
    out.i64(run.dimension[d].stride);
    out.u64(run.dimension[d].sequence_stride);
  }
}
void get(Decoder& in, AccessRun& run) {
  run.slot = static_cast<std::uint16_t>(in.below(65536, "slot"));
  run.width = static_cast<std::uint16_t>(in.below(65536, "width"));
  const std::uint64_t bits = in.below(16, "kind of access");
  run.kind = static_cast<AccessKind>(bits & 3);
  run.streamable = bits & 4;
  run.bulk = bits & 8;
  run.dimensions = static_cast<std::uint8_t>(in.below(AccessRun::max_dimensions + 1, "number of dimensions"));
  run.producer_distance = static_cast<std::uint32_t>(in.below(std::uint64_t{1} << 32, "producer distance"));
  run.site = SiteId{in.below(std::uint64_t{1} << 32, "site")};
  run.offset = in.i64();
  run.sequence = in.u64();
  for (unsigned d = 0; d < run.dimensions; ++d) {
    run.dimension[d].count = static_cast<std::uint32_t>(in.below(std::uint64_t{1} << 32, "count"));
    run.dimension[d].stride = in.i64();
    run.dimension[d].sequence_stride = static_cast<std::uint32_t>(in.below(std::uint64_t{1} << 32, "sequence stride"));
  }
}

// Columns, each the difference from the entry before: offsets of a walk are small steps, sequences constant ones.
void put(Encoder& out, const IrregularStream& stream) {
  out.u64(stream.site.value());
  out.u64(static_cast<std::uint64_t>(stream.kind));
  out.u64(stream.width);
  out.u64(stream.offset.size());
  std::int64_t slot = 0, offset = 0, distance = 0;
  std::uint64_t sequence = 0;
  for (const auto value : stream.slot) {
    out.i64(value - slot);
    slot = value;
  }
  for (const auto value : stream.offset) {
    out.i64(value - offset);
    offset = value;
  }
  for (const auto value : stream.producer_distance) {
    out.i64(value - distance);
    distance = value;
  }
  for (const auto value : stream.sequence) {
    out.u64(value - sequence);
    sequence = value;
  }
}
void get(Decoder& in, IrregularStream& stream) {
  stream.site = SiteId{in.below(std::uint64_t{1} << 32, "site")};
  stream.kind = enumerator<AccessKind>(in, 4, "kind of access");
  stream.width = static_cast<std::uint16_t>(in.below(65536, "width"));
  const std::uint64_t n = in.count(4);
  stream.slot.resize(n), stream.offset.resize(n), stream.producer_distance.resize(n), stream.sequence.resize(n);
  std::int64_t slot = 0, offset = 0, distance = 0;
  std::uint64_t sequence = 0;
  for (auto& value : stream.slot) value = static_cast<std::uint16_t>(slot += in.i64());
  for (auto& value : stream.offset) value = offset += in.i64();
  for (auto& value : stream.producer_distance) value = static_cast<std::uint32_t>(distance += in.i64());
  for (auto& value : stream.sequence) value = sequence += in.u64();
}

}  // namespace

void put(Encoder& out, const Site& site) { out.u64(site.pc), out.text(site.file), out.u64(site.line), out.text(site.function); }
void get(Decoder& in, Site& site) {
  site.pc = in.u64(), site.file = in.text(), site.line = static_cast<std::uint32_t>(in.u64()), site.function = in.text();
}

void put(Encoder& out, const TracedThread& thread) { out.u64(thread.parent.value()), out.text(thread.routine), out.i64(thread.rank); }
void get(Decoder& in, TracedThread& thread) {
  thread.parent = ThreadId{in.u64()}, thread.routine = in.text(), thread.rank = static_cast<std::int32_t>(in.i64());
}

void put(Encoder& out, const TracedObject& object) {
  out.u64(static_cast<std::uint64_t>(object.kind));
  out.u64(object.thread_private);
  out.u64(object.bytes);
  out.u64(object.alignment);
  out.u64(object.site.value());
  out.text(object.symbol);
  out.u64(object.reallocated_from.value());
  out.i64(object.owner_hint);
}
void get(Decoder& in, TracedObject& object) {
  object.kind = enumerator<ObjectKind>(in, 6, "kind of object");
  object.thread_private = in.below(2, "flag") != 0;
  object.bytes = in.u64();
  object.alignment = in.u64();
  object.site = SiteId{in.u64()};
  object.symbol = in.text();
  object.reallocated_from = ObjectId{in.u64()};
  object.owner_hint = static_cast<std::int32_t>(in.i64());
}

void put(Encoder& out, const Region& region) {
  out.u64(static_cast<std::uint64_t>(region.kind));
  out.text(region.label);
  out.u64(region.site.value());
  out.u64(region.dimensions.size());
  for (const LoopDimension& d : region.dimensions) out.i64(d.low), out.i64(d.high), out.i64(d.step);
  out.u64((region.nowait ? 1u : 0u) | (region.ordered ? 2u : 0u) | (region.reduction ? 4u : 0u));
  out.text(region.schedule_clause);
}
void get(Decoder& in, Region& region) {
  region.kind = enumerator<RegionKind>(in, 6, "kind of region");
  region.label = in.text();
  region.site = SiteId{in.u64()};
  region.dimensions.resize(in.count(3));
  for (LoopDimension& d : region.dimensions) d.low = in.i64(), d.high = in.i64(), d.step = in.i64();
  const std::uint64_t flags = in.below(8, "flags");
  region.nowait = flags & 1, region.ordered = flags & 2, region.reduction = flags & 4;
  region.schedule_clause = in.text();
}

void put(Encoder& out, const ItemPattern& pattern) {
  out.u64(pattern.slots);
  out.u64(pattern.accesses);
  out.u64(pattern.reads);
  out.u64(pattern.writes);
  put(out, pattern.work);
  out.u64(pattern.runs.size());
  for (const AccessRun& run : pattern.runs) put(out, run);
  out.u64(pattern.streams.size());
  for (const IrregularStream& stream : pattern.streams) put(out, stream);
  out.u64(pattern.heap_events.size());
  for (const HeapEvent& event : pattern.heap_events) {
    out.u64(event.sequence), out.u64(static_cast<std::uint64_t>(event.operation)), out.u64(event.slot), out.u64(event.zeroed);
  }
  out.u64(pattern.sync_events.size());
  for (const SyncEvent& event : pattern.sync_events) {
    out.u64(event.sequence), out.u64(static_cast<std::uint64_t>(event.operation)), out.u64(event.object), out.u64(event.match);
  }
}
void get(Decoder& in, ItemPattern& pattern) {
  pattern.slots = static_cast<std::uint16_t>(in.below(65536, "number of slots"));
  pattern.accesses = in.u64();
  pattern.reads = in.u64();
  pattern.writes = in.u64();
  get(in, pattern.work);
  pattern.runs.resize(in.count(8));
  for (AccessRun& run : pattern.runs) {
    get(in, run);
    if (run.slot >= pattern.slots) in.fail("has a run on slot " + std::to_string(run.slot) + " of " + std::to_string(pattern.slots));
  }
  pattern.streams.resize(in.count(4));
  for (IrregularStream& stream : pattern.streams) {
    get(in, stream);
    for (const auto slot : stream.slot) {
      if (slot >= pattern.slots) in.fail("has a stream on slot " + std::to_string(slot) + " of " + std::to_string(pattern.slots));
    }
  }
  pattern.heap_events.resize(in.count(4));
  for (HeapEvent& event : pattern.heap_events) {
    event.sequence = in.u64();
    event.operation = enumerator<HeapOperation>(in, 5, "heap operation");
    event.slot = static_cast<std::uint16_t>(in.below(pattern.slots, "slot"));
    event.zeroed = in.below(2, "flag") != 0;
  }
  pattern.sync_events.resize(in.count(4));
  for (SyncEvent& event : pattern.sync_events) {
    event.sequence = in.u64();
    event.operation = enumerator<SyncOperation>(in, 17, "synchronisation");
    event.object = in.u64();
    event.match = in.u64();
  }
}

void put(Encoder& out, const Loss& loss) { out.u64(loss.site.value()), out.text(loss.reason), out.u64(loss.count); }
void get(Decoder& in, Loss& loss) { loss.site = SiteId{in.u64()}, loss.reason = in.text(), loss.count = in.u64(); }

void put(Encoder& out, const Execution& e) {
  out.u64(e.region.value());
  out.u64(e.ordinal);
  out.i64(e.iterations);
  out.u64(static_cast<std::uint64_t>(e.binding));
  out.u64(e.team);
  out.u64(e.parallel);
  out.u64(e.barrier_after);
  out.i64(e.step);
  out.u64(e.accesses);
  out.u64(e.reads);
  out.u64(e.writes);
}
void get(Decoder& in, Execution& e, std::size_t regions) {
  e.region = RegionId{in.below(regions, "region")};
  e.ordinal = static_cast<std::uint32_t>(in.u64());
  e.iterations = in.i64();
  e.binding = enumerator<Binding>(in, 3, "binding");
  e.team = static_cast<std::uint32_t>(in.u64());
  e.parallel = static_cast<std::uint32_t>(in.u64());
  e.barrier_after = in.below(2, "flag") != 0;
  e.step = in.i64();
  e.accesses = in.u64();
  e.reads = in.u64();
  e.writes = in.u64();
}

void put(Encoder& out, const ExecutionBody& body) {
  out.u64(body.blocks.size());
  std::int64_t last = 0;
  for (const ItemBlock& block : body.blocks) {
    out.i64(block.first - last);
    out.i64(block.last - block.first);
    last = block.last;
    out.u64(block.pattern.value());
    out.u64(block.slots.size());
    for (const SlotBinding& slot : block.slots) out.u64(slot.object.value()), out.i64(slot.base), out.i64(slot.shift);
  }
}
void get(Decoder& in, ExecutionBody& body, const Workload& workload) {
  body.blocks.resize(in.count(4));
  std::int64_t last = 0;
  for (ItemBlock& block : body.blocks) {
    block.first = last + in.i64();
    block.last = block.first + in.i64();
    if (block.first < last || block.last <= block.first)
      in.fail("has a block of iterations " + std::to_string(block.first) + " to " + std::to_string(block.last) + " after " +
              std::to_string(last));
    last = block.last;
    block.pattern = PatternId{in.below(workload.patterns.size(), "pattern")};
    block.slots.resize(in.count(3));
    if (block.slots.size() != workload.patterns[block.pattern.index()].slots)
      in.fail("binds " + std::to_string(block.slots.size()) + " slots of a pattern with " +
              std::to_string(workload.patterns[block.pattern.index()].slots));
    for (SlotBinding& slot : block.slots) {
      slot.object = ObjectId{in.below(workload.objects.size(), "object")};
      slot.base = in.i64();
      slot.shift = in.i64();
    }
  }
}

void put_meta(Encoder& out, const Workload& w) {
  out.text(w.program), out.text(w.compiler), out.text(w.arguments), out.text(w.content_hash);
  out.u64(w.complete), out.u64(w.page_size);
}
void get_meta(Decoder& in, Workload& w) {
  w.program = in.text(), w.compiler = in.text(), w.arguments = in.text(), w.content_hash = in.text();
  w.complete = in.below(2, "flag") != 0, w.page_size = in.u64();
}

}  // namespace homenode::format
