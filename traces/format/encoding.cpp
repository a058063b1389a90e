#include "traces/format/encoding.hpp"

#include <array>
#include <utility>

namespace homenode {

namespace {
constexpr std::array<const char*, last_record_type + 1> names{
    "",    "META",   "STRING",  "SITE",     "THREAD", "REGION", "EXECUTION", "ITEM",        "SEGMENT", "OBJECT", "HEAP",
    "RUN", "STREAM", "PATTERN", "INSTANCE", "SYNC",   "EDGE",   "MARK",      "CALIBRATION", "LOSS",    "INDEX",  "FOOTER"};
}

const char* name_of(RecordType type) { return names.at(static_cast<std::size_t>(type)); }

}  // namespace homenode

namespace homenode::format {

void refuse_record(std::uint64_t type, const std::vector<std::string>& names) {
  const std::string name = type < names.size() && !names[type].empty() ? "'" + names[type] + "' (type " + std::to_string(type) + ")"
                                                                       : "of type " + std::to_string(type);
  throw DecodeError{"unknown critical record " + name + "; this version knows types 1 to " + std::to_string(last_record_type) +
                    ", each in its place; read the file with the homenode that wrote it"};
}

void encode(ByteWriter& out, const WorkCounts& work) {
  for (const double value :
       {work.instructions, work.integer, work.fp_add, work.fp_multiply, work.fp_fma, work.divide, work.load, work.store, work.branch}) {
    out.real(value);
  }
}

WorkCounts decode_work(ByteReader& in) {
  WorkCounts work;
  for (double* value : {&work.instructions, &work.integer, &work.fp_add, &work.fp_multiply, &work.fp_fma, &work.divide, &work.load,
                        &work.store, &work.branch}) {
    *value = in.real();
  }
  return work;
}

namespace {

bool is_zero(const WorkCounts& work) {
  return work.instructions == 0 && work.integer == 0 && work.fp_add == 0 && work.fp_multiply == 0 && work.fp_fma == 0 && work.divide == 0 &&
         work.load == 0 && work.store == 0 && work.branch == 0;
}

void encode_run(ByteWriter& out, const AccessRun& run) {
  out.unsigned_value(run.slot);
  out.unsigned_value(run.width);
  out.byte(static_cast<std::uint8_t>(run.kind));
  out.byte(static_cast<std::uint8_t>((run.streamable ? 1 : 0) | (run.bulk ? 2 : 0)));
  out.unsigned_value(run.producer_distance);
  out.id(run.site);
  out.signed_value(run.offset);
  out.unsigned_value(run.sequence);
  out.byte(run.dimensions);
  for (unsigned d = 0; d < run.dimensions; ++d) {
    out.unsigned_value(run.dimension[d].count);
    out.signed_value(run.dimension[d].stride);
    out.unsigned_value(run.dimension[d].sequence_stride);
  }
}

AccessRun decode_run(ByteReader& in, SlotNumber slots) {
  if (slots == 0) throw DecodeError{"an access run in a pattern without slots"};
  AccessRun run;
  run.slot = in.bounded<SlotNumber>("a run's slot", slots - 1u);
  run.width = in.bounded<std::uint16_t>("a run's width", 0xFFFF);
  run.kind = static_cast<AccessKind>(in.bounded<std::uint8_t>("a run's kind", 3));
  const std::uint8_t flags = in.byte();
  run.streamable = (flags & 1) != 0;
  run.bulk = (flags & 2) != 0;
  run.producer_distance = in.bounded<std::uint32_t>("a run's producer distance", 0xFFFFFFFF);
  run.site = in.id<SiteId>("a run's site");
  run.offset = in.signed_value();
  run.sequence = in.unsigned_value();
  run.dimensions = in.bounded<std::uint8_t>("a run's number of dimensions", AccessRun::max_dimensions);
  for (unsigned d = 0; d < run.dimensions; ++d) {
    run.dimension[d].count = in.bounded<std::uint32_t>("a run's count", 0xFFFFFFFF);
    run.dimension[d].stride = in.signed_value();
    run.dimension[d].sequence_stride = in.bounded<std::uint32_t>("a run's sequence stride", 0xFFFFFFFF);
  }
  return run;
}

void encode_stream(ByteWriter& out, const IrregularStream& stream) {
  out.id(stream.site);
  out.byte(static_cast<std::uint8_t>(stream.kind));
  out.unsigned_value(stream.width);
  out.unsigned_value(stream.offset.size());
  const std::size_t length = stream.offset.size();
  out.reserve(6 * length);
  out.unsigned_column(length, [&](std::size_t i) { return std::uint64_t{stream.slot[i]}; });
  std::int64_t previous = 0;
  out.unsigned_column(length, [&](std::size_t i) {
    const auto difference = static_cast<std::uint64_t>(stream.offset[i]) - static_cast<std::uint64_t>(previous);
    previous = stream.offset[i];
    return ByteWriter::zigzag(static_cast<std::int64_t>(difference));
  });
  out.unsigned_column(length, [&](std::size_t i) { return std::uint64_t{stream.producer_distance[i]}; });
  std::uint64_t sequence = 0;
  out.unsigned_column(length, [&](std::size_t i) { return stream.sequence[i] - std::exchange(sequence, stream.sequence[i]); });
}

IrregularStream decode_stream(ByteReader& in, SlotNumber slots) {
  if (slots == 0) throw DecodeError{"an irregular stream in a pattern without slots"};
  IrregularStream stream;
  stream.site = in.id<SiteId>("a stream's site");
  stream.kind = static_cast<AccessKind>(in.bounded<std::uint8_t>("a stream's kind", 3));
  stream.width = in.bounded<std::uint16_t>("a stream's width", 0xFFFF);
  const std::size_t length = in.count("a stream's length");
  stream.slot.resize(length);
  stream.offset.resize(length);
  stream.producer_distance.resize(length);
  stream.sequence.resize(length);
  for (SlotNumber& slot : stream.slot) slot = in.bounded<SlotNumber>("a stream's slot", slots - 1u);
  std::uint64_t offset = 0;
  for (std::int64_t& next : stream.offset) next = static_cast<std::int64_t>(offset += static_cast<std::uint64_t>(in.signed_value()));
  for (std::uint32_t& distance : stream.producer_distance) {
    distance = in.bounded<std::uint32_t>("a stream's producer distance", 0xFFFFFFFF);
  }
  std::uint64_t sequence = 0;
  for (std::uint64_t& next : stream.sequence) next = sequence += in.unsigned_value();
  return stream;
}

}  // namespace

void encode_pattern(ByteWriter& out, RegionId region, const ItemPattern& pattern, const std::vector<Segment>& segments,
                    const Intern& intern) {
  out.id(region);
  out.unsigned_value(pattern.slots);
  out.unsigned_value(pattern.accesses);
  out.unsigned_value(pattern.reads);
  out.unsigned_value(pattern.writes);
  ByteWriter fields;
  const auto segment = [&](const Segment& part) {
    fields.clear();
    fields.unsigned_value(part.ordinal);
    encode(fields, part.work);
    fields.unsigned_value(intern(part.cost_class));
    out.record(RecordType::segment, fields);
  };
  for (const Segment& part : segments) segment(part);
  if (segments.empty() && !is_zero(pattern.work)) segment({0, pattern.work, {}});
  for (const AccessRun& run : pattern.runs) {
    fields.clear();
    encode_run(fields, run);
    out.record(RecordType::run, fields);
  }
  for (const IrregularStream& stream : pattern.streams) {
    out.record_in_place(RecordType::stream, [&] { encode_stream(out, stream); });
  }
  for (const HeapEvent& event : pattern.heap_events) {
    fields.clear();
    fields.unsigned_value(event.sequence);
    fields.byte(static_cast<std::uint8_t>(event.operation));
    fields.unsigned_value(event.slot);
    fields.byte(event.zeroed ? 1 : 0);
    out.record(RecordType::heap, fields);
  }
  for (const SyncEvent& event : pattern.sync_events) {
    fields.clear();
    fields.unsigned_value(event.sequence);
    fields.byte(static_cast<std::uint8_t>(event.operation));
    fields.unsigned_value(event.object);
    fields.unsigned_value(event.match);
    out.record(RecordType::sync, fields);
  }
}

StoredPattern decode_pattern(ByteReader in, const std::vector<std::string>& names, const LookUp& text) {
  StoredPattern stored;
  ItemPattern& pattern = stored.pattern;
  stored.region = in.id<RegionId>("a pattern's region");
  pattern.slots = in.bounded<SlotNumber>("a pattern's slots", most_slots);
  pattern.accesses = in.unsigned_value();
  pattern.reads = in.unsigned_value();
  pattern.writes = in.unsigned_value();
  for_each_record(in, names, [&](RecordType type, ByteReader& fields) {
    switch (type) {
      case RecordType::segment: {
        Segment segment;
        segment.ordinal = fields.bounded<std::uint32_t>("a segment's ordinal", 0xFFFFFFFF);
        segment.work = decode_work(fields);
        segment.cost_class = text(fields.unsigned_value());
        pattern.work += segment.work;
        stored.segments.push_back(std::move(segment));
        return true;
      }
      case RecordType::run:
        pattern.runs.push_back(decode_run(fields, pattern.slots));
        return true;
      case RecordType::stream:
        pattern.streams.push_back(decode_stream(fields, pattern.slots));
        return true;
      case RecordType::heap: {
        if (pattern.slots == 0) throw DecodeError{"a heap event in a pattern without slots"};
        HeapEvent event;
        event.sequence = fields.unsigned_value();
        event.operation = static_cast<HeapOperation>(fields.bounded<std::uint8_t>("a heap operation", 4));
        event.slot = fields.bounded<SlotNumber>("a heap event's slot", pattern.slots - 1u);
        event.zeroed = fields.byte() != 0;
        pattern.heap_events.push_back(event);
        return true;
      }
      case RecordType::sync: {
        SyncEvent event;
        event.sequence = fields.unsigned_value();
        event.operation = static_cast<SyncOperation>(
            fields.bounded<std::uint8_t>("a synchronisation operation", static_cast<std::uint64_t>(SyncOperation::task_group_end)));
        event.object = fields.unsigned_value();
        event.match = fields.unsigned_value();
        pattern.sync_events.push_back(event);
        return true;
      }
      default:
        return false;
    }
  });
  return stored;
}

}  // namespace homenode::format
