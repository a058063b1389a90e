// PATTERN, and the records inside it: SEGMENT, RUN, STREAM, HEAP and SYNC.
#include "traces/format/records/fields.hpp"

namespace homenode::format {

void describe(auto& fields, Of<Segment> auto& segment) {
  fields.bounded("a segment's ordinal", segment.ordinal);
  describe(fields, segment.work);
  fields.string(segment.cost_class);
}
template struct Codec<RecordType::segment, Segment>;

void describe(auto& fields, Of<AccessRun> auto& run) {
  fields.slot("a run's slot", run.slot);
  fields.bounded("a run's width", run.width);
  fields.one_of("a run's kind", run.kind, AccessKind::atomic);
  fields.flags(run.streamable, run.bulk);
  fields.bounded("a run's producer distance", run.producer_distance);
  fields.id("a run's site", run.site);
  fields.signed_number(run.offset);
  fields.number(run.sequence);
  fields.at_most("a run's number of dimensions", run.dimensions, AccessRun::max_dimensions);
  for (unsigned d = 0; d < run.dimensions; ++d) {
    fields.bounded("a run's count", run.dimension[d].count);
    fields.signed_number(run.dimension[d].stride);
    fields.bounded("a run's sequence stride", run.dimension[d].sequence_stride);
  }
}
template struct Codec<RecordType::run, AccessRun>;

// Columns, which compress better than rows.
void describe(auto& fields, Of<IrregularStream> auto& stream) {
  fields.id("a stream's site", stream.site);
  fields.one_of("a stream's kind", stream.kind, AccessKind::atomic);
  fields.bounded("a stream's width", stream.width);
  const std::size_t length = fields.count("a stream's length", stream.slot, 4);  // a byte of each column
  fields.slots("a stream's slot", stream.slot, length);
  fields.differences(stream.offset, length);
  fields.numbers("a stream's producer distance", stream.producer_distance, length);
  fields.ascending(stream.sequence, length);
}
template struct Codec<RecordType::stream, IrregularStream>;

void describe(auto& fields, Of<HeapEvent> auto& event) {
  fields.number(event.sequence);
  fields.one_of("a heap operation", event.operation, HeapOperation::unmap);
  fields.slot("a heap event's slot", event.slot);
  fields.boolean(event.zeroed);
}
template struct Codec<RecordType::heap, HeapEvent>;

void describe(auto& fields, Of<SyncEvent> auto& event) {
  fields.number(event.sequence);
  fields.one_of("a synchronisation operation", event.operation, SyncOperation::task_group_end);
  fields.number(event.object);
  fields.number(event.match);
}
template struct Codec<RecordType::sync, SyncEvent>;

namespace {

constexpr std::size_t spare_slots = 4096;  // that nothing in the pattern need use

void describe_head(auto& fields, auto& region, auto& pattern) {
  fields.id("a pattern's region", region);
  fields.at_most("a pattern's slots", pattern.slots, most_slots);
  fields.number(pattern.accesses);
  fields.number(pattern.reads);
  fields.number(pattern.writes);
}

bool is_zero(const WorkCounts& work) {
  return work.instructions == 0 && work.integer == 0 && work.fp_add == 0 && work.fp_multiply == 0 && work.fp_fma == 0 && work.divide == 0 &&
         work.load == 0 && work.store == 0 && work.branch == 0;
}

// A record that reads slots, of a pattern that must have some.
template <class RecordCodec>
void take(const char* what, std::vector<typename RecordCodec::Value>& records, ByteReader& fields, const LookUp& look_up,
          SlotNumber slots) {
  if (slots == 0) throw DecodeError{std::string(what) + " in a pattern without slots"};
  push_back_large(records, RecordCodec::decode(fields, look_up, slots));
}

}  // namespace

void encode_pattern(ByteWriter& out, RegionId region, const ItemPattern& pattern, const std::vector<Segment>& segments,
                    const Intern& intern) {
  Encoder head{out, intern};
  describe_head(head, region, pattern);
  for (const Segment& segment : segments) SegmentCodec::append(out, segment, intern);
  if (segments.empty() && !is_zero(pattern.work)) SegmentCodec::append(out, {0, pattern.work, {}}, intern);
  for (const AccessRun& run : pattern.runs) RunCodec::append(out, run, intern);
  for (const IrregularStream& stream : pattern.streams) StreamCodec::append(out, stream, intern);
  for (const HeapEvent& event : pattern.heap_events) HeapCodec::append(out, event, intern);
  for (const SyncEvent& event : pattern.sync_events) SyncCodec::append(out, event, intern);
}

StoredPattern decode_pattern(ByteReader in, const std::vector<std::string>& names, const LookUp& look_up) {
  StoredPattern stored;
  ItemPattern& pattern = stored.pattern;
  Decoder head{in, look_up, 0};
  describe_head(head, stored.region, pattern);
  // What takes memory by slot must not depend on a number alone: what uses a slot takes bytes.
  if (pattern.slots > spare_slots + in.remaining())
    throw DecodeError{"a pattern of " + std::to_string(pattern.slots) + " slots in so short a record"};
  for_each_record(in, names, [&](RecordType type, ByteReader& fields) {
    switch (type) {
      case RecordType::segment:
        stored.segments.push_back(SegmentCodec::decode(fields, look_up));
        pattern.work += stored.segments.back().work;
        return true;
      case RecordType::run: take<RunCodec>("an access run", pattern.runs, fields, look_up, pattern.slots); return true;
      case RecordType::stream: take<StreamCodec>("an irregular stream", pattern.streams, fields, look_up, pattern.slots); return true;
      case RecordType::heap: take<HeapCodec>("a heap event", pattern.heap_events, fields, look_up, pattern.slots); return true;
      case RecordType::sync: pattern.sync_events.push_back(SyncCodec::decode(fields, look_up)); return true;
      default: return false;
    }
  });
  return stored;
}

}  // namespace homenode::format
