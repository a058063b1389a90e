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

  struct Body {
    Execution execution;
    ExecutionExtra extra;
    std::uint64_t order = 0;
    bool open = true;
    std::int64_t next = 0;  // first iteration not yet described
    std::vector<ItemBlock> pending;
    std::vector<ItemOrigin> origins;
    std::vector<std::uint64_t> frame_offsets;
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
  std::vector<std::pair<Site, SiteExtra>> sites;
  std::vector<std::pair<TracedThread, ThreadExtra>> threads;
  std::vector<Region> regions;
  std::vector<TracedObject> objects;
  std::size_t sites_written = 0, threads_written = 0, regions_written = 0, objects_written = 0;
  format::ObjectIdentities identities;
  std::vector<std::uint64_t> object_identity;
  std::unordered_map<Digest128, std::uint32_t, Digest128Hash> pattern_ids;
  std::vector<KnownPattern> known_patterns;
  std::vector<format::CanonicalPattern> canonical_patterns;
  std::vector<Body> bodies;
  ByteWriter losses, edges, marks, calibrations, rates;

  std::uint64_t intern(const std::string& text) {
    const auto [entry, fresh] = string_ids.emplace(text, string_ids.size());
    if (fresh) {
      ByteWriter fields;
      fields.unsigned_value(entry->second);
      fields.text(text);
      strings.record(RecordType::string, fields);
    }
    return entry->second;
  }
  void flush(ByteWriter& buffer, RecordType type, bool critical = true) {
    if (buffer.empty()) return;
    frames.write(type, buffer.bytes(), critical);
    buffer.clear();
  }
  void write_table(RecordType type, std::size_t from, std::size_t to, const auto& encode_row) {
    ByteWriter table;
    for (std::size_t row = from; row < to; ++row) {
      ByteWriter fields;
      fields.unsigned_value(row);
      encode_row(fields, row);
      table.record(type, fields);
      if (table.size() >= frame_target) {
        flush(strings, RecordType::string);
        flush(table, type);
      }
    }
    flush(strings, RecordType::string);
    flush(table, type);
  }
  void write_meta(bool complete);
  void write_sites(std::size_t from);
  void write_threads(std::size_t from);
  void write_regions(std::size_t from);
  void write_objects(std::size_t from);
  void write_execution(ByteWriter&, std::size_t);
  void checkpoint();
  void encode_blocks(std::size_t body);
  void flush_items();
};

void TraceWriter::State::write_meta(bool complete) {
  ByteWriter fields, out;
  for (const std::string* text : {&meta.tool, &meta.compiler, &meta.compiler_flags, &meta.program, &meta.arguments}) fields.text(*text);
  fields.unsigned_value(meta.capture_threads);
  fields.unsigned_value(meta.page_size);
  fields.unsigned_value(meta.features.size());
  for (const std::string& feature : meta.features) fields.text(feature);
  fields.byte(complete ? 1 : 0);
  // The names of this version's records, so that an older reader refuses an unknown one by its name.
  fields.unsigned_value(last_record_type);
  for (std::uint16_t type = 1; type <= last_record_type; ++type) fields.text(name_of(static_cast<RecordType>(type)));
  out.record(RecordType::meta, fields);
  frames.write(RecordType::meta, out.bytes());
}

void TraceWriter::State::write_sites(std::size_t from) {
  write_table(RecordType::site, from, sites.size(), [&](ByteWriter& fields, std::size_t row) {
    const auto& [site, extra] = sites[row];
    fields.unsigned_value(site.pc);
    fields.unsigned_value(intern(site.file));
    fields.unsigned_value(site.line);
    fields.unsigned_value(intern(site.function));
    fields.id(extra.inline_parent);
  });
}

void TraceWriter::State::write_threads(std::size_t from) {
  write_table(RecordType::thread, from, threads.size(), [&](ByteWriter& fields, std::size_t row) {
    const auto& [thread, extra] = threads[row];
    fields.id(thread.parent);
    fields.unsigned_value(intern(thread.routine));
    fields.signed_value(thread.rank);
    fields.unsigned_value(extra.create_event);
    fields.unsigned_value(extra.join_event);
  });
}

void TraceWriter::State::write_regions(std::size_t from) {
  write_table(RecordType::region, from, regions.size(), [&](ByteWriter& fields, std::size_t row) {
    const Region& region = regions[row];
    fields.byte(static_cast<std::uint8_t>(region.kind));
    fields.unsigned_value(intern(region.label));
    fields.id(region.site);
    fields.unsigned_value(region.dimensions.size());
    for (const LoopDimension& dimension : region.dimensions) {
      fields.signed_value(dimension.low);
      fields.signed_value(dimension.high);
      fields.signed_value(dimension.step);
    }
    fields.byte(static_cast<std::uint8_t>((region.nowait ? 1 : 0) | (region.ordered ? 2 : 0) | (region.reduction ? 4 : 0)));
    fields.unsigned_value(intern(region.schedule_clause));
  });
}

void TraceWriter::State::write_objects(std::size_t from) {
  write_table(RecordType::object, from, objects.size(), [&](ByteWriter& fields, std::size_t row) {
    const TracedObject& object = objects[row];
    fields.byte(static_cast<std::uint8_t>(object.kind));
    fields.byte(object.thread_private ? 1 : 0);
    fields.unsigned_value(object.bytes);
    fields.unsigned_value(object.alignment);
    fields.id(object.site);
    fields.unsigned_value(intern(object.symbol));
    fields.id(object.reallocated_from);
    fields.signed_value(object.owner_hint);
  });
}

void TraceWriter::State::write_execution(ByteWriter& fields, std::size_t row) {
  const Body& body = bodies[row];
  const Execution& execution = body.execution;
  fields.unsigned_value(body.order);
  fields.id(execution.region);
  fields.unsigned_value(execution.ordinal);
  fields.signed_value(execution.iterations);
  fields.byte(static_cast<std::uint8_t>(execution.binding));
  fields.unsigned_value(execution.team);
  fields.unsigned_value(execution.parallel);
  fields.byte(execution.barrier_after ? 1 : 0);
  fields.signed_value(execution.step);
  fields.unsigned_value(execution.accesses);
  fields.unsigned_value(execution.reads);
  fields.unsigned_value(execution.writes);
  fields.id(body.extra.parent.execution);
  fields.signed_value(body.extra.parent.iteration);
}

// Everything that the blocks about to be written refer to, so that a killed capture's file can be read up to here.
void TraceWriter::State::checkpoint() {
  write_sites(std::exchange(sites_written, sites.size()));
  write_threads(std::exchange(threads_written, threads.size()));
  write_regions(std::exchange(regions_written, regions.size()));
  write_objects(std::exchange(objects_written, objects.size()));
  flush(strings, RecordType::string);
  flush(patterns, RecordType::pattern);
}

// ITEM: execution, origins, columns of blocks; INSTANCE inside it: the slots' objects, bases and shifts, as differences to the
// same slot of the block before.
void TraceWriter::State::encode_blocks(std::size_t row) {
  Body& body = bodies[row];
  if (body.pending.empty() && body.origins.empty()) return;
  ByteWriter fields, instances;
  fields.unsigned_value(row);
  fields.unsigned_value(body.pending.size());
  fields.signed_value(body.pending.empty() ? body.next : body.pending.front().first);
  for (const ItemBlock& block : body.pending) fields.unsigned_value(static_cast<std::uint64_t>(block.last - block.first));
  std::int64_t pattern = 0;
  for (const ItemBlock& block : body.pending) {
    fields.signed_value(std::int64_t{block.pattern.value()} - pattern);
    pattern = block.pattern.value();
  }
  for (const ItemBlock& block : body.pending) fields.unsigned_value(block.slots.size());
  static const std::vector<SlotBinding> nothing;
  const std::vector<SlotBinding>* previous = &nothing;
  const auto column = [&](const auto& difference) {
    previous = &nothing;
    for (const ItemBlock& block : body.pending) {
      for (std::size_t s = 0; s < block.slots.size(); ++s) {
        const SlotBinding before = s < previous->size() ? (*previous)[s] : SlotBinding{ObjectId{0}, 0, 0};
        instances.signed_value(difference(block.slots[s], before));
      }
      previous = &block.slots;
    }
  };
  const auto minus = [](std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  };
  column([](const SlotBinding& now, const SlotBinding& before) { return std::int64_t{now.object.value()} - before.object.value(); });
  column([&](const SlotBinding& now, const SlotBinding& before) { return minus(now.base, before.base); });
  column([&](const SlotBinding& now, const SlotBinding& before) { return minus(now.shift, before.shift); });
  fields.record(RecordType::instance, instances);
  for (const ItemOrigin& origin : body.origins) {
    ByteWriter nested;
    nested.signed_value(origin.first);
    nested.id(origin.parent.execution);
    nested.signed_value(origin.parent.iteration);
    nested.id(origin.creator);
    nested.unsigned_value(origin.first_sequence);
    nested.byte(origin.thread_body ? 1 : 0);
    fields.record(RecordType::item, nested);
  }
  items.record(RecordType::item, fields);
  executions_in_items.push_back(static_cast<std::uint32_t>(row));
  body.pending.clear();
  body.origins.clear();
  if (items.size() >= frame_target) flush_items();
}

void TraceWriter::State::flush_items() {
  if (items.empty()) return;
  checkpoint();
  ByteWriter table;  // what is known of the executions in this frame, for a recovery
  for (const std::uint32_t row : executions_in_items) {
    ByteWriter fields;
    fields.unsigned_value(row);
    write_execution(fields, row);
    table.record(RecordType::execution, fields);
  }
  flush(table, RecordType::execution);
  const std::uint64_t offset = frames.write(RecordType::item, items.bytes());
  for (const std::uint32_t row : executions_in_items) {
    std::vector<std::uint64_t>& offsets = bodies[row].frame_offsets;
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
  state_->sites.emplace_back(site, extra);
  return SiteId{state_->sites.size() - 1};
}
ThreadId TraceWriter::add(const TracedThread& thread, const ThreadExtra& extra) {
  state_->threads.emplace_back(thread, extra);
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
      state_->identities.add(object, known ? state_->sites[object.site.index()].first.function : std::string{}));
  return ObjectId{state_->objects.size() - 1};
}
void TraceWriter::update(SiteId id, const Site& site) { state_->sites.at(id.index()).first = site; }
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
  patterns.record_in_place(RecordType::pattern, [&] {
    format::encode_pattern(patterns, region, pattern, segments, [this](const std::string& text) { return state_->intern(text); });
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
  body.pending.push_back(std::move(block));
  if (body.pending.size() >= blocks_a_record) state_->encode_blocks(id.index());
}

void TraceWriter::origin(ExecutionId id, const ItemOrigin& origin) { state_->bodies.at(id.index()).origins.push_back(origin); }

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

void TraceWriter::add(const Loss& loss) {
  ByteWriter fields;
  fields.id(loss.site);
  fields.unsigned_value(state_->intern(loss.reason));
  fields.unsigned_value(loss.count);
  state_->losses.record(RecordType::loss, fields);
}

void TraceWriter::add(const Edge& edge) {
  ByteWriter fields;
  for (const ItemReference* item : {&edge.predecessor, &edge.successor}) {
    fields.id(item->execution);
    fields.signed_value(item->iteration);
  }
  fields.byte(static_cast<std::uint8_t>(edge.kind));
  state_->edges.record(RecordType::edge, fields);
}

void TraceWriter::add(const Mark& mark) {
  ByteWriter fields;
  fields.id(mark.item.execution);
  fields.signed_value(mark.item.iteration);
  fields.unsigned_value(mark.sequence);
  fields.byte(static_cast<std::uint8_t>(mark.operation));
  fields.signed_value(mark.value);
  fields.id(mark.object);
  fields.unsigned_value(state_->intern(mark.text));
  state_->marks.record(RecordType::mark, fields);
}

void TraceWriter::add(const Calibration& calibration) {
  ByteWriter fields;
  fields.id(calibration.region);
  fields.unsigned_value(state_->intern(calibration.cost_class));
  fields.real(calibration.cycles);
  fields.real(calibration.clock_hertz);
  fields.unsigned_value(state_->intern(calibration.host));
  fields.byte(calibration.measured ? 1 : 0);
  state_->calibrations.record(RecordType::calibration, fields, false);
}

void TraceWriter::work_rate(RegionId region, const WorkRate& rate) {
  ByteWriter fields;
  fields.id(region);
  format::encode(fields, rate.per_access);
  format::encode(fields, rate.per_iteration);
  state_->rates.record(RecordType::segment, fields);
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
  state.write_sites(0);
  state.write_regions(0);
  state.write_objects(0);
  std::vector<std::size_t> order(state.bodies.size());
  for (std::size_t row = 0; row < order.size(); ++row) order[row] = row;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return state.bodies[a].order < state.bodies[b].order; });
  std::vector<std::uint32_t> executions_of(state.regions.size(), 0);
  std::vector<Execution> executions;
  std::vector<std::string> digests;
  std::uint64_t accesses = 0, reads = 0, writes = 0;
  for (const std::size_t row : order) {
    Execution& execution = state.bodies[row].execution;
    execution.ordinal = executions_of.at(execution.region.index())++;
    executions.push_back(execution);
    digests.push_back(state.bodies[row].finished_digest);
    accesses += execution.accesses;
    reads += execution.reads;
    writes += execution.writes;
  }
  state.write_table(RecordType::execution, 0, state.bodies.size(),
                    [&](ByteWriter& fields, std::size_t row) { state.write_execution(fields, row); });
  state.flush(state.strings, RecordType::string);
  state.flush(state.losses, RecordType::loss);
  state.flush(state.edges, RecordType::edge);
  state.flush(state.marks, RecordType::mark);
  state.flush(state.calibrations, RecordType::calibration, false);
  state.flush(state.rates, RecordType::segment);
  state.write_meta(complete);
  state.write_table(RecordType::index, 0, state.bodies.size(), [&](ByteWriter& fields, std::size_t row) {
    const std::vector<std::uint64_t>& offsets = state.bodies[row].frame_offsets;
    fields.unsigned_value(offsets.size());
    std::uint64_t previous = 0;
    for (const std::uint64_t offset : offsets) fields.unsigned_value(offset - std::exchange(previous, offset));
  });
  const std::string hash = format::content_hash(state.regions, executions, digests);
  ByteWriter fields, footer;
  fields.byte(complete ? 1 : 0);
  fields.unsigned_value(state.bodies.size());
  fields.unsigned_value(state.known_patterns.size());
  fields.unsigned_value(state.objects.size());
  fields.unsigned_value(accesses);
  fields.unsigned_value(reads);
  fields.unsigned_value(writes);
  fields.text(hash);
  footer.record(RecordType::footer, fields);
  state.frames.finish(state.frames.write(RecordType::footer, footer.bytes()));
  return hash;
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
