// The codecs of the record types: what each record holds, and its bytes in both directions. The table at the end says which value
// is written as which record type.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/program/workload.hpp"
#include "traces/format/records/bytes.hpp"

namespace homenode::format {

// A text is stored once, as a STRING record; the other records hold its id.
using Intern = std::function<std::uint64_t(const std::string&)>;
using LookUp = std::function<const std::string&(std::uint64_t)>;

// What a codec reads or writes for a row of a table. The row's number, where a record has one, stands before these fields.
struct StoredMeta {
  TraceMeta meta;
  std::vector<std::string> record_names;  // type 1 first, so that an older reader refuses an unknown record by its name
};
struct StoredText {
  std::string text;
};
struct StoredSite {
  Site site;
  SiteExtra extra;
};
struct StoredThread {
  TracedThread thread;
  ThreadExtra extra;
};
struct StoredExecution {
  std::uint64_t order = 0;  // place in program order
  Execution execution;
  ExecutionExtra extra;
};
struct StoredRate {
  RegionId region;
  WorkRate rate;
};
struct FrameOffsets {
  std::vector<std::uint64_t> offsets;  // of an execution's ITEM frames, ascending
};
struct StoredFooter {
  bool complete = true;
  std::uint64_t executions = 0, patterns = 0, objects = 0, accesses = 0, reads = 0, writes = 0;  // of the whole file
  std::string content_hash;
};

// A pattern with what belongs to it in the file only.
struct StoredPattern {
  RegionId region = RegionId::none();
  ItemPattern pattern;            // `work` is the sum of the segments
  std::vector<Segment> segments;  // as stored; a pattern with work and without segments is written with one segment
};
// PATTERN: counts, then SEGMENT, RUN, STREAM, HEAP and SYNC as records of their own. `names`: see refuse_record().
void encode_pattern(ByteWriter&, RegionId, const ItemPattern&, const std::vector<Segment>&, const Intern&);
StoredPattern decode_pattern(ByteReader, const std::vector<std::string>& names, const LookUp&);

// ITEM, after the execution's number: a stretch of an execution's body. INSTANCE inside it: the slots' objects, bases and shifts.
struct BodyPart {
  std::int64_t first = 0;         // first iteration, also of a part without blocks
  std::vector<ItemBlock> blocks;  // without gaps
  std::vector<ItemOrigin> origins;
};
void encode_part(ByteWriter&, const BodyPart&);
BodyPart decode_part(ByteReader&, std::size_t patterns, const std::vector<std::string>& names);

// The pair of a record type: describe() in the sources of this folder names its fields once, for both directions.
template <RecordType record_type, class Record>
struct Codec {
  using Value = Record;
  static constexpr RecordType type = record_type;
  static void encode(ByteWriter&, const Record&, const Intern&);
  // `slots`: those of the pattern that the record is part of.
  static Record decode(ByteReader&, const LookUp&, SlotNumber slots = 0);
  // The whole record with its head.
  static void append(ByteWriter& out, const Record& value, const Intern& intern, bool critical = true) {
    out.record(
        type, [&] { encode(out, value, intern); }, critical);
  }
};
using MetaCodec = Codec<RecordType::meta, StoredMeta>;
using StringCodec = Codec<RecordType::string, StoredText>;
using SiteCodec = Codec<RecordType::site, StoredSite>;
using ThreadCodec = Codec<RecordType::thread, StoredThread>;
using RegionCodec = Codec<RecordType::region, Region>;
using ExecutionCodec = Codec<RecordType::execution, StoredExecution>;
using RateCodec = Codec<RecordType::segment, StoredRate>;  // as a frame of its own
using ObjectCodec = Codec<RecordType::object, TracedObject>;
using EdgeCodec = Codec<RecordType::edge, Edge>;
using MarkCodec = Codec<RecordType::mark, Mark>;
using CalibrationCodec = Codec<RecordType::calibration, Calibration>;
using LossCodec = Codec<RecordType::loss, Loss>;
using OutsideCodec = Codec<RecordType::outside, RegionCode>;
using CodeBlockCodec = Codec<RecordType::code_block, CodeBlock>;
using CodePlaceCodec = Codec<RecordType::code_place, CodePlace>;
using CodeWindowCodec = Codec<RecordType::code_window, CodeWindow>;
using CodeCountCodec = Codec<RecordType::code_count, CodeCount>;
using CodeHostCodec = Codec<RecordType::code_host, CodeHost>;
using MeasuredTimeCodec = Codec<RecordType::measured_time, MeasuredTime>;
using IndexCodec = Codec<RecordType::index, FrameOffsets>;
using FooterCodec = Codec<RecordType::footer, StoredFooter>;
using OriginCodec = Codec<RecordType::item, ItemOrigin>;         // inside ITEM
using SegmentCodec = Codec<RecordType::segment, Segment>;        // inside PATTERN
using HeapCodec = Codec<RecordType::heap, HeapEvent>;            // inside PATTERN
using SyncCodec = Codec<RecordType::sync, SyncEvent>;            // inside PATTERN
using RunCodec = Codec<RecordType::run, AccessRun>;              // inside PATTERN
using StreamCodec = Codec<RecordType::stream, IrregularStream>;  // inside PATTERN

}  // namespace homenode::format
