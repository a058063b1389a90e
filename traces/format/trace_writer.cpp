#include "traces/format/trace_writer.hpp"

#include <xxhash.h>

#include <algorithm>
#include <future>
#include <map>
#include <unordered_map>
#include <utility>

#include "sim/base/errors.hpp"
#include "traces/format/content_hash.hpp"
#include "traces/format/frame.hpp"
#include "traces/format/records/codec.hpp"

namespace homenode {

using format::ByteWriter;

namespace {
constexpr std::size_t frame_target = 256 << 10;  // raw bytes of a frame: large enough for zstd, small enough for random access
constexpr std::size_t blocks_a_record = 4096;
constexpr std::uint64_t beside = 1 << 16;  // accesses from which a thread is worth its start

struct Digest128 {
  std::uint64_t low, high;
  bool operator==(const Digest128&) const = default;
};
struct Digest128Hash {
  std::size_t operator()(const Digest128& digest) const { return digest.low; }
};
}  // namespace

struct TraceWriter::State {
  explicit State(std::filesystem::path target) : frames{std::move(target)} {}

  struct Body : format::StoredExecution {
    bool open = true;
    std::int64_t next = 0;     // first iteration not yet described
    format::BodyPart pending;  // not yet encoded
    format::FrameOffsets frames;
    format::BodyDigest digest;
    std::string finished_digest;
  };
  struct KnownPattern {
    std::uint64_t accesses, reads, writes;
    SlotNumber slots;
  };

  format::FrameWriter frames;
  TraceMeta meta;
  std::map<std::string, std::uint64_t> string_ids;
  ByteWriter strings, patterns, items;  // frames in the making
  std::vector<std::uint32_t> executions_in_items;
  std::vector<format::StoredSite> sites;
  std::vector<format::StoredThread> threads;
  std::vector<Region> regions;
  std::vector<TracedObject> objects;
  std::size_t sites_written = 0, threads_written = 0, regions_written = 0, objects_written = 0;
  format::ObjectIdentities identities;
  std::vector<std::uint64_t> object_identity;
  std::unordered_map<Digest128, std::uint32_t, Digest128Hash> pattern_ids;
  std::vector<KnownPattern> known_patterns;
  std::vector<format::CanonicalPattern> canonical_patterns;
  std::vector<Body> bodies;
  ByteWriter losses, edges, marks, calibrations, outside, code_blocks, code_places, code_windows, code_counts, code_host, times, rates;

  const format::Intern intern = [this](const std::string& text) {
    const auto [entry, fresh] = string_ids.emplace(text, string_ids.size());
    if (fresh) append_row<format::StringCodec>(strings, entry->second, {text});
    return entry->second;
  };
  // A record of a table: the number of its row, its fields.
  template <class RowCodec>
  void append_row(ByteWriter& table, std::uint64_t row, const typename RowCodec::Value& value) {
    table.record(RowCodec::type, [&] {
      table.unsigned_value(row);
      RowCodec::encode(table, value, intern);
    });
  }
  void flush(ByteWriter& buffer, RecordType type, bool critical = true) {
    if (buffer.empty()) return;
    frames.write(type, buffer.bytes(), critical);
    buffer.clear();
  }
  template <class RowCodec, class Row>
  void write_table(std::size_t from, const std::vector<Row>& rows) {
    ByteWriter table;
    for (std::size_t row = from; row < rows.size(); ++row) {
      append_row<RowCodec>(table, row, rows[row]);
      if (table.size() >= frame_target) {
        flush(strings, RecordType::string);
        flush(table, RowCodec::type);
      }
    }
    flush(strings, RecordType::string);
    flush(table, RowCodec::type);
  }
  void write_meta(bool complete);
  void checkpoint();
  void encode_blocks(std::size_t body);
  void flush_items();
};

void TraceWriter::State::write_meta(bool complete) {
  format::StoredMeta stored{meta, {}};
  stored.meta.complete = complete;
  for (std::uint16_t type = 1; type <= last_record_type; ++type) stored.record_names.emplace_back(name_of(static_cast<RecordType>(type)));
  ByteWriter out;
  format::MetaCodec::append(out, stored, intern);
  frames.write(RecordType::meta, out.bytes());
}

// Everything that the blocks about to be written refer to, so that a killed capture's file can be read up to here.
void TraceWriter::State::checkpoint() {
  write_table<format::SiteCodec>(std::exchange(sites_written, sites.size()), sites);
  write_table<format::ThreadCodec>(std::exchange(threads_written, threads.size()), threads);
  write_table<format::RegionCodec>(std::exchange(regions_written, regions.size()), regions);
  write_table<format::ObjectCodec>(std::exchange(objects_written, objects.size()), objects);
  flush(strings, RecordType::string);
  flush(patterns, RecordType::pattern);
}

void TraceWriter::State::encode_blocks(std::size_t row) {
  Body& body = bodies[row];
  format::BodyPart& part = body.pending;
  if (part.blocks.empty() && part.origins.empty()) return;
  part.first = part.blocks.empty() ? body.next : part.blocks.front().first;
  items.record(RecordType::item, [&] {
    items.unsigned_value(row);
    format::encode_part(items, part);
  });
  executions_in_items.push_back(static_cast<std::uint32_t>(row));
  part.blocks.clear();
  part.origins.clear();
  if (items.size() >= frame_target) flush_items();
}

void TraceWriter::State::flush_items() {
  if (items.empty()) return;
  checkpoint();
  ByteWriter table;  // what is known of the executions in this frame, for a recovery
  for (const std::uint32_t row : executions_in_items) append_row<format::ExecutionCodec>(table, row, bodies[row]);
  flush(table, RecordType::execution);
  const std::uint64_t offset = frames.write(RecordType::item, items.bytes());
  for (const std::uint32_t row : executions_in_items) {
    std::vector<std::uint64_t>& offsets = bodies[row].frames.offsets;
    if (offsets.empty() || offsets.back() != offset) offsets.push_back(offset);
  }
  executions_in_items.clear();
  items.clear();
}

TraceWriter::TraceWriter(std::filesystem::path target) : state_{std::make_unique<State>(std::move(target))} { state_->intern(""); }
TraceWriter::~TraceWriter() = default;

void TraceWriter::meta(const TraceMeta& meta) {
  state_->meta = meta;
  state_->write_meta(false);
}

SiteId TraceWriter::add(const Site& site, const SiteExtra& extra) {
  state_->sites.push_back({site, extra});
  return SiteId{state_->sites.size() - 1};
}
ThreadId TraceWriter::add(const TracedThread& thread, const ThreadExtra& extra) {
  state_->threads.push_back({thread, extra});
  return ThreadId{state_->threads.size() - 1};
}
RegionId TraceWriter::add(const Region& region) {
  state_->regions.push_back(region);
  return RegionId{state_->regions.size() - 1};
}
ObjectId TraceWriter::add(const TracedObject& object) {
  const bool known = object.site.index() < state_->sites.size();
  state_->objects.push_back(object);
  state_->object_identity.push_back(
      state_->identities.add(object, known ? state_->sites[object.site.index()].site.function : std::string{}));
  return ObjectId{state_->objects.size() - 1};
}
void TraceWriter::update(SiteId id, const Site& site) { state_->sites.at(id.index()).site = site; }
void TraceWriter::update(RegionId id, const Region& region) { state_->regions.at(id.index()) = region; }
void TraceWriter::update(ObjectId id, const TracedObject& object) { state_->objects.at(id.index()) = object; }

PatternId TraceWriter::add(RegionId region, const ItemPattern& pattern, const std::vector<Segment>& segments) {
  // In its place in the frame, to be taken away again where it is known.
  ByteWriter& patterns = state_->patterns;
  const std::size_t begin = patterns.size();
  XXH128_hash_t digest{};
  // Of long patterns, which hardly come twice, the canonical form is made beside their bytes.
  std::future<format::CanonicalPattern> canonical;
  std::uint64_t irregular = 0;
  for (const IrregularStream& stream : pattern.streams) irregular += stream.offset.size();
  if (irregular >= beside) canonical = std::async(std::launch::async, [&pattern] { return format::canonical(pattern); });
  patterns.record(RecordType::pattern, [&] {
    format::encode_pattern(patterns, region, pattern, segments, state_->intern);
    digest = XXH3_128bits(patterns.bytes().data() + begin, patterns.size() - begin);
  });
  const auto [entry, fresh] =
      state_->pattern_ids.emplace(Digest128{digest.low64, digest.high64}, static_cast<std::uint32_t>(state_->known_patterns.size()));
  if (fresh) {
    state_->known_patterns.push_back({pattern.accesses, pattern.reads, pattern.writes, pattern.slots});
    if (patterns.size() >= frame_target) state_->checkpoint();
    state_->canonical_patterns.push_back(canonical.valid() ? canonical.get() : format::canonical(pattern));
  } else {
    patterns.truncate(begin);
  }
  return PatternId{entry->second};
}

ExecutionId TraceWriter::open_execution(RegionId region, std::uint64_t order) {
  State::Body body;
  body.execution.region = region;
  body.order = order;
  state_->bodies.push_back(std::move(body));
  return ExecutionId{state_->bodies.size() - 1};
}

void TraceWriter::append(ExecutionId id, ItemBlock block) {
  State::Body& body = state_->bodies.at(id.index());
  const State::KnownPattern& pattern = state_->known_patterns.at(block.pattern.index());
  if (!body.open || block.first != body.next || block.last <= block.first || block.slots.size() != pattern.slots) {
    throw Error("a block of iterations " + std::to_string(block.first) + " to " + std::to_string(block.last) + " with " +
                std::to_string(block.slots.size()) + " slots was appended to a body that goes on at " + std::to_string(body.next) +
                ", for a pattern of " + std::to_string(pattern.slots) + " slots");
  }
  const auto iterations = static_cast<std::uint64_t>(block.last - block.first);
  body.execution.accesses += iterations * pattern.accesses;
  body.execution.reads += iterations * pattern.reads;
  body.execution.writes += iterations * pattern.writes;
  body.execution.iterations = body.next = block.last;
  body.digest.append(block, state_->canonical_patterns[block.pattern.index()], state_->object_identity);
  body.pending.blocks.push_back(std::move(block));
  if (body.pending.blocks.size() >= blocks_a_record) state_->encode_blocks(id.index());
}

void TraceWriter::origin(ExecutionId id, const ItemOrigin& origin) { state_->bodies.at(id.index()).pending.origins.push_back(origin); }

void TraceWriter::close_execution(ExecutionId id, const Execution& execution, const ExecutionExtra& extra) {
  State::Body& body = state_->bodies.at(id.index());
  if (!body.open) throw Error("execution " + std::to_string(id.value()) + " was closed twice");
  if (execution.iterations != body.next) {
    throw Error("execution " + std::to_string(id.value()) + " has " + std::to_string(execution.iterations) + " iterations, its blocks " +
                std::to_string(body.next));
  }
  const Execution counted = body.execution;
  body.execution = execution;
  body.execution.region = counted.region;
  body.execution.accesses = counted.accesses;
  body.execution.reads = counted.reads;
  body.execution.writes = counted.writes;
  body.extra = extra;
  state_->encode_blocks(id.index());
  body.finished_digest = body.digest.finish();
  body.digest = format::BodyDigest{};
  body.open = false;
}

const Execution& TraceWriter::execution(ExecutionId id) const { return state_->bodies.at(id.index()).execution; }

void TraceWriter::add(const Loss& loss) { format::LossCodec::append(state_->losses, loss, state_->intern); }
void TraceWriter::add(const Edge& edge) { format::EdgeCodec::append(state_->edges, edge, state_->intern); }
void TraceWriter::add(const Mark& mark) { format::MarkCodec::append(state_->marks, mark, state_->intern); }
void TraceWriter::add(const Calibration& calibration) {
  format::CalibrationCodec::append(state_->calibrations, calibration, state_->intern, false);
}
void TraceWriter::add(const RegionCode& code) { format::OutsideCodec::append(state_->outside, code, state_->intern, false); }
void TraceWriter::add(const ExecutedCode& executed) {
  State& state = *state_;
  for (const CodeBlock& block : executed.blocks) format::CodeBlockCodec::append(state.code_blocks, block, state.intern, false);
  for (const CodePlace& place : executed.places) format::CodePlaceCodec::append(state.code_places, place, state.intern, false);
  for (const CodeWindow& window : executed.windows) format::CodeWindowCodec::append(state.code_windows, window, state.intern, false);
  for (const CodeCount& count : executed.counts) format::CodeCountCodec::append(state.code_counts, count, state.intern, false);
  if (executed.host_hertz > 0) format::CodeHostCodec::append(state.code_host, {executed.host_hertz}, state.intern, false);
  for (const MeasuredTime& time : executed.times) format::MeasuredTimeCodec::append(state.times, time, state.intern, false);
}
void TraceWriter::work_rate(RegionId region, const WorkRate& rate) {
  format::RateCodec::append(state_->rates, {region, rate}, state_->intern);
}

void TraceWriter::flush() {
  for (std::size_t row = 0; row < state_->bodies.size(); ++row) state_->encode_blocks(row);
  state_->flush_items();
}

std::uint64_t TraceWriter::bytes() const { return state_->frames.bytes(); }

std::string TraceWriter::finish(bool complete) {
  State& state = *state_;
  for (std::size_t row = 0; row < state.bodies.size(); ++row) {
    if (state.bodies[row].open) close_execution(ExecutionId{row}, Execution{state.bodies[row].execution});
  }
  state.flush_items();
  state.checkpoint();
  // The final tables: rows that were written before come again, and the last one counts.
  state.write_table<format::SiteCodec>(0, state.sites);
  state.write_table<format::RegionCodec>(0, state.regions);
  state.write_table<format::ObjectCodec>(0, state.objects);
  std::vector<std::size_t> order(state.bodies.size());
  for (std::size_t row = 0; row < order.size(); ++row) order[row] = row;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return state.bodies[a].order < state.bodies[b].order; });
  std::vector<std::uint32_t> executions_of(state.regions.size(), 0);
  std::vector<Execution> executions;
  std::vector<std::string> digests;
  format::StoredFooter footer{.complete = complete, .executions = order.size(), .content_hash = {}};
  for (const std::size_t row : order) {
    Execution& execution = state.bodies[row].execution;
    execution.ordinal = executions_of.at(execution.region.index())++;
    executions.push_back(execution);
    digests.push_back(state.bodies[row].finished_digest);
    footer.accesses += execution.accesses;
    footer.reads += execution.reads;
    footer.writes += execution.writes;
  }
  state.write_table<format::ExecutionCodec>(0, state.bodies);
  state.flush(state.strings, RecordType::string);
  state.flush(state.losses, RecordType::loss);
  state.flush(state.edges, RecordType::edge);
  state.flush(state.marks, RecordType::mark);
  state.flush(state.calibrations, RecordType::calibration, false);
  state.flush(state.outside, RecordType::outside, false);
  state.flush(state.code_blocks, RecordType::code_block, false);
  state.flush(state.code_places, RecordType::code_place, false);
  state.flush(state.code_windows, RecordType::code_window, false);
  state.flush(state.code_counts, RecordType::code_count, false);
  state.flush(state.code_host, RecordType::code_host, false);
  state.flush(state.times, RecordType::measured_time, false);
  state.flush(state.rates, RecordType::segment);
  state.write_meta(complete);
  std::vector<format::FrameOffsets> index;
  for (State::Body& body : state.bodies) index.push_back(std::move(body.frames));
  state.write_table<format::IndexCodec>(0, index);
  footer.patterns = state.known_patterns.size();
  footer.objects = state.objects.size();
  footer.content_hash = format::content_hash(state.regions, executions, digests);
  ByteWriter last;
  format::FooterCodec::append(last, footer, state.intern);
  state.frames.finish(state.frames.write(RecordType::footer, last.bytes()));
  return footer.content_hash;
}

Loss truncation(const std::string& why) {
  return {SiteId{0}, std::string{truncation_prefix} + (why.empty() ? "the program did not reach its end" : why), 1};
}

std::string write_trace(const std::filesystem::path& target, const Workload& workload) {
  TraceWriter writer{target};
  TraceMeta meta;
  meta.tool = "homenode";
  meta.compiler = workload.compiler;
  meta.program = workload.program;
  meta.arguments = workload.arguments;
  meta.page_size = workload.page_size;
  for (const std::string& what : workload.lacks) meta.features.push_back(std::string{lacking_feature} + what);
  writer.meta(meta);
  for (const Site& site : workload.sites) writer.add(site);
  for (const TracedThread& thread : workload.threads) writer.add(thread);
  for (const Region& region : workload.regions) writer.add(region);
  for (const TracedObject& object : workload.objects) writer.add(object);
  for (const Loss& loss : workload.losses) writer.add(loss);
  for (std::size_t e = 0; e < workload.executions.size(); ++e) {
    const Execution& execution = workload.executions[e];
    const ExecutionId id = writer.open_execution(execution.region, e);
    for (ItemBlock block : workload.body(ExecutionId{e})->blocks) {
      block.pattern = writer.add(execution.region, workload.patterns.at(block.pattern.index()));
      writer.append(id, block);
    }
    writer.close_execution(id, execution);
  }
  return writer.finish(workload.complete);
}

}  // namespace homenode
