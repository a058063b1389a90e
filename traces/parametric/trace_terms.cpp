#include "traces/parametric/trace_terms.hpp"

#include <algorithm>
#include <limits>

#include "sim/errors.hpp"
#include "traces/format/content_hash.hpp"

namespace homenode::parametric {
namespace {

constexpr std::size_t most_numbers = 50'000'000;       // of one body before its repetitions are found
constexpr std::size_t most_listed_accesses = 1 << 16;  // of an irregular stream: longer ones must be the same in all captures

// Identities: parts with a separator that no number or name has.
template <class... Parts>
std::string identity(const Parts&... parts) {
  std::string result;
  const auto add = [&](const auto& part) {
    if constexpr (std::is_convertible_v<decltype(part), std::string>) {
      result += part;
    } else {
      result += std::to_string(static_cast<std::int64_t>(part));
    }
    result += '\x1f';
  };
  (add(parts), ...);
  return result;
}

std::int64_t number(auto id) { return id.is_none() ? -1 : static_cast<std::int64_t>(id.value()); }
std::int64_t number(std::uint64_t value) { return static_cast<std::int64_t>(value); }

struct Place {
  std::int64_t object = 0, offset = 0, shift = 0;
};
// Iterations that do the same at constant shifts, as the content hash sees them.
struct CanonicalBlock {
  std::int64_t iterations = 0;
  PatternId pattern;
  std::vector<Place> places;
};

std::vector<CanonicalBlock> canonical_blocks(const ExecutionBody& body, const std::vector<format::CanonicalPattern>& patterns) {
  std::vector<CanonicalBlock> result;
  for (const ItemBlock& block : body.blocks) {
    const format::CanonicalPattern& pattern = patterns[block.pattern.index()];
    CanonicalBlock fresh{block.last - block.first, block.pattern, {}};
    for (const format::CanonicalPattern::Position& position : pattern.positions) {
      const SlotBinding& binding = block.slots[position.slot];
      fresh.places.push_back({number(binding.object), binding.base + position.offset, binding.shift});
    }
    if (fresh.iterations <= 0) continue;
    CanonicalBlock* last = result.empty() ? nullptr : &result.back();
    bool joins = last != nullptr && patterns[last->pattern.index()].shape == pattern.shape && last->places.size() == fresh.places.size();
    for (std::size_t i = 0; joins && i < fresh.places.size(); ++i) {
      const Place &old = last->places[i], &next = fresh.places[i];
      joins = old.object == next.object && (last->iterations == 1 || next.offset == old.offset + last->iterations * old.shift);
    }
    if (joins) {
      if (last->iterations == 1)
        for (std::size_t i = 0; i < fresh.places.size(); ++i) last->places[i].shift = fresh.places[i].offset - last->places[i].offset;
      ++last->iterations;
      if (--fresh.iterations == 0) continue;
      bool same_shift = true;
      for (std::size_t i = 0; same_shift && i < fresh.places.size(); ++i) same_shift = last->places[i].shift == fresh.places[i].shift;
      if (same_shift) {
        last->iterations += fresh.iterations;
        continue;
      }
      for (Place& place : fresh.places) place.offset += place.shift;
    }
    result.push_back(std::move(fresh));
  }
  for (CanonicalBlock& block : result)
    if (block.iterations == 1)
      for (Place& place : block.places) place.shift = 0;
  return result;
}

const char* name(AccessKind kind) {
  switch (kind) {
    case AccessKind::read:
      return "read";
    case AccessKind::write:
      return "write";
    case AccessKind::read_modify_write:
      return "read and write";
    case AccessKind::atomic:
      return "atomic access";
  }
  return "";
}

}  // namespace

template <class Prototype>
const RecordKind& TraceTerms::kind(What what, std::vector<Prototype>& prototypes, const Prototype& prototype, std::string identity,
                                   std::string title, std::vector<std::string> fields) {
  identity += std::to_string(static_cast<unsigned>(what));
  const auto [entry, fresh] = by_identity_.emplace(identity, nullptr);
  if (fresh) {
    kinds_.push_back({{std::move(identity), std::move(title), std::move(fields)}, what, prototypes.size()});
    prototypes.push_back(prototype);
    entry->second = &kinds_.back();
    by_record_[&kinds_.back().record] = &kinds_.back();
  }
  return entry->second->record;
}

const TraceTerms::Kind& TraceTerms::known(const Term& term) const { return *by_record_.at(term.kind); }

// ---- a trace into a term

class TraceTerms::Encoder {
public:
  Encoder(TraceTerms& terms, const TraceFile& trace) : terms_{terms}, trace_{trace} {
    for (const Site& site : trace.sites) site_keys_.push_back(identity(number(site.pc), site.file, site.line, site.function));
    for (const ItemPattern& pattern : trace.patterns) {
      patterns_.push_back(format::canonical(pattern));
      pattern_sites_.push_back(sites_of(pattern));
    }
    result_.work.resize(trace.regions.size());
    result_.sums.resize(trace.regions.size());
  }

  TermsOfTrace run() {
    std::vector<TermPointer> objects, threads, regions, executions, marks, edges, losses;
    for (const TracedObject& object : trace_.objects) objects.push_back(encode(object));
    for (std::size_t t = 0; t < trace_.threads.size(); ++t) threads.push_back(encode(trace_.threads[t], trace_.thread_extras[t]));
    for (const Region& region : trace_.regions) regions.push_back(encode(region));
    for (std::size_t e = 0; e < trace_.executions.size(); ++e) executions.push_back(encode_execution(ExecutionId{e}));
    for (const Mark& mark : trace_.marks) marks.push_back(encode(mark));
    for (const Edge& edge : trace_.edges) edges.push_back(encode(edge));
    for (const Loss& loss : trace_.losses) losses.push_back(encode(loss));
    const RecordKind& trace = terms_.kind(What::trace, terms_.nothing_, 0, identity(number(trace_.page_size)), "", {"threads at capture"});
    result_.root = record(trace, {std::int64_t{trace_.meta.capture_threads}},
                          {list(std::move(objects)), list(std::move(threads)), list(std::move(regions)), list(std::move(executions)),
                           list(std::move(marks)), list(std::move(edges)), list(std::move(losses))});
    return std::move(result_);
  }

private:
  // The same place in the source is the same site, whichever capture it is in. An iteration may use several sites of one place:
  // then they are told apart by their order in it.
  SiteId site(SiteId id, std::size_t ordinal = 0) {
    if (id.index() >= trace_.sites.size()) return id;
    const auto [entry, fresh] = terms_.site_numbers_.emplace(std::pair{site_keys_[id.index()], ordinal}, terms_.sites_.size());
    const SiteId global{entry->second};
    if (fresh) {
      terms_.sites_.push_back(trace_.sites[id.index()]);
      terms_.site_extras_.emplace_back();
      const SiteId parent = site(trace_.site_extras[id.index()].inline_parent);
      terms_.site_extras_[global.index()].inline_parent = parent;
    }
    return global;
  }
  // Of the runs, then of the streams.
  std::vector<SiteId> sites_of(const ItemPattern& pattern) {
    std::vector<SiteId> result;
    std::map<SiteId, SiteId> known;
    std::map<std::string, std::size_t> uses;
    const auto add = [&](SiteId id) {
      auto found = known.find(id);
      if (found == known.end()) {
        const std::size_t ordinal = id.index() < site_keys_.size() ? uses[site_keys_[id.index()]]++ : 0;
        found = known.emplace(id, site(id, ordinal)).first;
      }
      result.push_back(found->second);
    };
    for (const AccessRun& run : pattern.runs) add(run.site);
    for (const IrregularStream& stream : pattern.streams) add(stream.site);
    return result;
  }
  std::string place(SiteId global) const {
    if (global.index() >= terms_.sites_.size()) return "an unknown place";
    const Site& site = terms_.sites_[global.index()];
    return site.file.empty() ? site.function : site.file + ":" + std::to_string(site.line);
  }

  TermPointer encode(TracedObject object) {
    object.site = site(object.site);
    const bool moved = !object.reallocated_from.is_none();
    std::vector<std::int64_t> numbers{number(object.bytes), number(object.alignment), object.owner_hint};
    std::vector<std::string> fields{"bytes", "alignment", "owner"};
    if (moved) {
      numbers.push_back(number(object.reallocated_from));
      fields.emplace_back("the object that it was reallocated from");
    }
    return record(terms_.kind(What::object, terms_.objects_, object,
                              identity(object.kind, object.thread_private, number(object.site), object.symbol, moved),
                              "object '" + object.symbol + "'", std::move(fields)),
                  std::move(numbers));
  }

  TermPointer encode(const TracedThread& thread, const ThreadExtra& extra) {
    const bool created = !thread.parent.is_none();
    std::vector<std::int64_t> numbers{thread.rank, number(extra.create_event), number(extra.join_event)};
    std::vector<std::string> fields{"rank", "creating event", "joining event"};
    if (created) {
      numbers.push_back(number(thread.parent));
      fields.emplace_back("parent");
    }
    return record(terms_.kind(What::thread, terms_.threads_, thread, identity(thread.routine, created), "thread '" + thread.routine + "'",
                              std::move(fields)),
                  std::move(numbers));
  }

  TermPointer encode(Region region) {
    region.site = site(region.site);
    std::vector<std::int64_t> numbers;
    std::vector<std::string> fields;
    for (const LoopDimension& dimension : region.dimensions) {
      numbers.insert(numbers.end(), {dimension.low, dimension.high, dimension.step});
      fields.insert(fields.end(), {"first iteration", "end of the iterations", "step"});
    }
    return record(terms_.kind(What::region, terms_.regions_, region,
                              identity(region.kind, region.label, number(region.site), region.nowait, region.ordered, region.reduction,
                                       region.schedule_clause, number(std::uint64_t{region.dimensions.size()})),
                              "region '" + region.label + "'", std::move(fields)),
                  std::move(numbers));
  }

  TermPointer encode_execution(ExecutionId id) {
    const Execution& execution = trace_.executions[id.index()];
    const ItemReference& parent = trace_.execution_extras[id.index()].parent;
    const Hole hole{.parent = parent.execution.is_none()};
    std::vector<std::int64_t> numbers{execution.team, execution.parallel, execution.step};
    std::vector<std::string> fields{"team", "parallel construct", "step"};
    if (!hole.parent) {
      numbers.insert(numbers.end(), {number(parent.execution), parent.iteration});
      fields.insert(fields.end(), {"parent execution", "parent iteration"});
    }
    std::vector<TermPointer> blocks, origins;
    std::size_t size = 0;
    for (const CanonicalBlock& block : canonical_blocks(*trace_.body(id), patterns_)) {
      blocks.push_back(encode(block));
      if ((size += blocks.back()->numbers.size()) > most_numbers) {
        throw UsageError("region '" + trace_.regions[execution.region.index()].label +
                         "' does too much that differs for a fit; capture smaller sizes");
      }
    }
    for (const ItemBlock& block : trace_.body(id)->blocks) {
      const auto iterations = static_cast<double>(block.last - block.first);
      result_.work[execution.region.index()] += trace_.patterns[block.pattern.index()].work.scaled(iterations);
      result_.sums[execution.region.index()].iterations += iterations;
    }
    result_.sums[execution.region.index()].accesses += static_cast<double>(execution.accesses);
    for (const ItemOrigin& origin : trace_.origins(id)) origins.push_back(encode(origin));
    return record(terms_.kind(What::execution, terms_.executions_, {execution, hole},
                              identity(number(execution.region), trace_.regions[execution.region.index()].label, execution.binding,
                                       execution.barrier_after, hole.parent),
                              "region '" + trace_.regions[execution.region.index()].label + "'", std::move(fields)),
                  std::move(numbers), {list(std::move(blocks)), list(std::move(origins))});
  }

  TermPointer encode(const ItemOrigin& origin) {
    const Hole hole{.parent = origin.parent.execution.is_none(), .creator = origin.creator.is_none()};
    std::vector<std::int64_t> numbers{origin.first, number(origin.first_sequence), origin.parent.iteration};
    std::vector<std::string> fields{"first iteration", "first sequence number", "parent iteration"};
    if (!hole.parent) {
      numbers.push_back(number(origin.parent.execution));
      fields.emplace_back("parent execution");
    }
    if (!hole.creator) {
      numbers.push_back(number(origin.creator));
      fields.emplace_back("creator");
    }
    return record(terms_.kind(What::origin, terms_.origins_, {origin, hole}, identity(origin.thread_body, hole.parent, hole.creator),
                              "origin of an item", std::move(fields)),
                  std::move(numbers));
  }

  TermPointer encode(const CanonicalBlock& block) {
    const ItemPattern& pattern = trace_.patterns[block.pattern.index()];
    for (const Segment& segment : trace_.segments[block.pattern.index()])
      if (!segment.cost_class.empty()) throw UsageError("work in cost classes ('" + segment.cost_class + "') cannot be extrapolated");
    auto site = pattern_sites_[block.pattern.index()].begin();
    std::size_t next = 0;
    std::vector<TermPointer> runs, streams, heap, sync;
    for (const AccessRun& run : pattern.runs) runs.push_back(encode(run, *site++, block.places[next++]));
    for (const IrregularStream& stream : pattern.streams) streams.push_back(encode(stream, *site++, block.places, next));
    for (const HeapEvent& event : pattern.heap_events) {
      const Place& place = block.places[next++];
      heap.push_back(record(terms_.kind(What::heap, terms_.heap_events_, event, identity(event.operation, event.zeroed), "heap call",
                                        {"object", "offset", "shift", "sequence number"}),
                            {place.object, place.offset, place.shift, number(event.sequence)}));
    }
    for (const SyncEvent& event : pattern.sync_events) {
      sync.push_back(record(terms_.kind(What::sync, terms_.sync_events_, event, identity(event.operation), "synchronisation",
                                        {"sequence number", "object", "match"}),
                            {number(event.sequence), number(event.object), number(event.match)}));
    }
    return record(terms_.kind(What::block, terms_.nothing_, 0, "", "items", {"number of iterations"}), {block.iterations},
                  {list(std::move(runs)), list(std::move(streams)), list(std::move(heap)), list(std::move(sync))});
  }

  TermPointer encode(AccessRun run, SiteId site, const Place& place) {
    run.site = site;
    std::vector<std::int64_t> numbers{place.object, place.offset, place.shift, number(run.sequence), run.producer_distance};
    std::vector<std::string> fields{"object", "offset", "shift from one iteration to the next", "sequence number",
                                    "distance to the address's producer"};
    for (unsigned d = 0; d < run.dimensions; ++d) {
      const std::string of = " of dimension " + std::to_string(d);
      numbers.insert(numbers.end(), {run.dimension[d].count, run.dimension[d].stride, run.dimension[d].sequence_stride});
      fields.insert(fields.end(), {"count" + of, "stride" + of, "sequence stride" + of});
    }
    return record(
        terms_.kind(What::run, terms_.runs_, run, identity(run.width, run.kind, run.streamable, run.bulk, run.dimensions, number(run.site)),
                    std::string(name(run.kind)) + " at " + this->place(run.site), std::move(fields)),
        std::move(numbers));
  }

  TermPointer encode(const IrregularStream& stream, SiteId site, const std::vector<Place>& places, std::size_t& next) {
    struct Slot {
      std::uint16_t number = 0;  // by first use
      std::int64_t first = 0;    // offset of its first access
      Place place;
    };
    std::map<std::uint16_t, Slot> slots;
    for (std::size_t i = 0; i < stream.slot.size(); ++i) {
      const auto number = static_cast<std::uint16_t>(slots.size());
      if (!slots.contains(stream.slot[i])) slots[stream.slot[i]] = {number, stream.offset[i], places[next++]};
    }
    const std::string title = std::string("irregular ") + name(stream.kind) + " at " + place(site);
    IrregularStream common = stream;
    common.site = site;
    if (stream.slot.size() <= most_listed_accesses) {
      common.slot = {};
      common.offset = {};
      common.producer_distance = {};
      common.sequence = {};
      const RecordKind& access = terms_.kind(What::access, terms_.nothing_, 0, "", title,
                                             {"object", "offset", "shift", "distance to the address's producer", "sequence number"});
      std::vector<TermPointer> accesses;
      for (std::size_t i = 0; i < stream.slot.size(); ++i) {
        const Slot& slot = slots[stream.slot[i]];
        accesses.push_back(record(access, {slot.place.object, slot.place.offset + stream.offset[i] - slot.first, slot.place.shift,
                                           stream.producer_distance[i], number(stream.sequence[i])}));
      }
      return record(terms_.kind(What::stream, terms_.streams_, common, identity(stream.width, stream.kind, number(site)), title, {}), {},
                    {list(std::move(accesses))});
    }
    // Too long for a list: all of it is part of the identity, and so the same in all captures but for where its objects lie.
    std::vector<std::int64_t> numbers(3 * slots.size());
    std::vector<std::string> fields;
    for (const auto& entry : slots) {
      const Place& place = entry.second.place;
      std::int64_t* own = &numbers[3 * std::size_t{entry.second.number}];
      own[0] = place.object;
      own[1] = place.offset;
      own[2] = place.shift;
      fields.insert(fields.end(), {"object", "offset", "shift"});
    }
    std::string text = identity(stream.width, stream.kind, number(site));
    for (std::size_t i = 0; i < stream.slot.size(); ++i) {
      const Slot& slot = slots[stream.slot[i]];
      common.slot[i] = slot.number;
      common.offset[i] = stream.offset[i] - slot.first;
      text += identity(common.slot[i], common.offset[i], common.producer_distance[i], number(common.sequence[i]));
    }
    return record(terms_.kind(What::stream, terms_.streams_, common, std::move(text),
                              std::to_string(stream.slot.size()) + " accesses, " + title, std::move(fields)),
                  std::move(numbers));
  }

  TermPointer encode(const Mark& mark) {
    const Hole hole{.parent = mark.item.execution.is_none(), .object = mark.object.is_none()};
    std::vector<std::int64_t> numbers{mark.item.iteration, number(mark.sequence), mark.value};
    std::vector<std::string> fields{"iteration", "sequence number", "value"};
    if (!hole.parent) {
      numbers.push_back(number(mark.item.execution));
      fields.emplace_back("execution");
    }
    if (!hole.object) {
      numbers.push_back(number(mark.object));
      fields.emplace_back("object");
    }
    return record(terms_.kind(What::mark, terms_.marks_, {mark, hole}, identity(mark.operation, mark.text, hole.parent, hole.object),
                              "mark", std::move(fields)),
                  std::move(numbers));
  }

  TermPointer encode(const Edge& edge) {
    const Hole hole{.parent = edge.predecessor.execution.is_none(), .successor = edge.successor.execution.is_none()};
    std::vector<std::int64_t> numbers{edge.predecessor.iteration, edge.successor.iteration};
    std::vector<std::string> fields{"iteration of the predecessor", "iteration of the successor"};
    if (!hole.parent) {
      numbers.push_back(number(edge.predecessor.execution));
      fields.emplace_back("execution of the predecessor");
    }
    if (!hole.successor) {
      numbers.push_back(number(edge.successor.execution));
      fields.emplace_back("execution of the successor");
    }
    return record(terms_.kind(What::edge, terms_.edges_, {edge, hole}, identity(edge.kind, hole.parent, hole.successor), "dependence",
                              std::move(fields)),
                  std::move(numbers));
  }

  TermPointer encode(Loss loss) {
    loss.site = site(loss.site);
    return record(
        terms_.kind(What::loss, terms_.losses_, loss, identity(number(loss.site), loss.reason), "loss '" + loss.reason + "'", {"count"}),
        {number(loss.count)});
  }

  TraceTerms& terms_;
  const TraceFile& trace_;
  std::vector<std::string> site_keys_;              // by site of the trace: its place in the source
  std::vector<std::vector<SiteId>> pattern_sites_;  // by pattern
  std::vector<format::CanonicalPattern> patterns_;
  TermsOfTrace result_;
};

TermsOfTrace TraceTerms::encode(const TraceFile& trace, const std::string& file) {
  if (!trace.complete) throw UsageError("'" + file + "' is truncated; allowed: traces of programs that reached their end");
  try {
    return Encoder{*this, trace}.run();
  } catch (const UsageError& error) { throw UsageError("'" + file + "': " + error.what()); }
}

// ---- a term into a trace

class TraceTerms::Decoder {
public:
  explicit Decoder(const TraceTerms& terms) : terms_{terms} {}

  PredictedTrace run(const Term& root, std::span<const std::int64_t> numbers) {
    Workload& workload = *trace_.workload;
    workload.sites = terms_.sites_;
    trace_.site_extras = terms_.site_extras_;
    trace_.threads = checked<std::uint32_t>("the number of threads", numbers[0], 1);
    numbers = numbers.subspan(1);
    for (const TermPointer& table : root.children) {
      expand(*table, numbers.first(table->numbers.size()),
             [&](const Term& record, std::span<const std::int64_t> values) { add(record, values); });
      numbers = numbers.subspan(table->numbers.size());
    }
    check_references();
    return std::move(trace_);
  }

private:
  template <class Number>
  Number checked(const std::string& what, std::int64_t value, std::int64_t least = 0) {
    const auto most = static_cast<std::int64_t>(
        std::min<std::uint64_t>(std::numeric_limits<Number>::max(), std::uint64_t{std::numeric_limits<std::int64_t>::max()}));
    if (value < least || value > most) {
      throw UsageError(where_ + what + " would be " + std::to_string(value) + "; allowed: " + std::to_string(least) + " to " +
                       std::to_string(most));
    }
    return static_cast<Number>(value);
  }
  ExecutionId execution_id(std::int64_t value) { return ExecutionId{checked<std::uint32_t>("an execution's number", value)}; }
  ObjectId object_id(std::int64_t value) { return ObjectId{checked<std::uint32_t>("an object's number", value)}; }

  void add(const Term& record, std::span<const std::int64_t> values) {
    const Kind& kind = terms_.known(record);
    where_ = kind.record.title + ": ";
    Workload& workload = *trace_.workload;
    switch (kind.what) {
      case What::object: {
        TracedObject object = terms_.objects_[kind.prototype];
        object.bytes = checked<std::uint64_t>("its size", values[0]);
        object.alignment = checked<std::uint64_t>("its alignment", values[1], 1);
        object.owner_hint = checked<std::int32_t>("its owner", values[2], -1);
        if (values.size() > 3) object.reallocated_from = object_id(values[3]);
        workload.objects.push_back(std::move(object));
        break;
      }
      case What::thread: {
        TracedThread thread = terms_.threads_[kind.prototype];
        thread.rank = checked<std::int32_t>("its rank", values[0], std::numeric_limits<std::int32_t>::min());
        if (values.size() > 3) thread.parent = ThreadId{checked<std::uint32_t>("its parent", values[3])};
        workload.threads.push_back(std::move(thread));
        trace_.thread_extras.push_back({static_cast<std::uint64_t>(values[1]), static_cast<std::uint64_t>(values[2])});
        break;
      }
      case What::region: {
        Region region = terms_.regions_[kind.prototype];
        for (std::size_t d = 0; d < region.dimensions.size(); ++d)
          region.dimensions[d] = {values[3 * d], values[3 * d + 1], values[3 * d + 2]};
        workload.regions.push_back(std::move(region));
        break;
      }
      case What::execution:
        add_execution(record, kind, values);
        break;
      case What::mark: {
        auto [mark, hole] = terms_.marks_[kind.prototype];
        mark.item.iteration = values[0];
        mark.sequence = checked<std::uint64_t>("its sequence number", values[1]);
        mark.value = values[2];
        if (!hole.parent) mark.item.execution = execution_id(values[3]);
        if (!hole.object) mark.object = object_id(values.back());
        trace_.marks.push_back(std::move(mark));
        break;
      }
      case What::edge: {
        auto [edge, hole] = terms_.edges_[kind.prototype];
        edge.predecessor.iteration = values[0];
        edge.successor.iteration = values[1];
        if (!hole.parent) edge.predecessor.execution = execution_id(values[2]);
        if (!hole.successor) edge.successor.execution = execution_id(values.back());
        trace_.edges.push_back(edge);
        break;
      }
      case What::loss: {
        Loss loss = terms_.losses_[kind.prototype];
        loss.count = checked<std::uint64_t>("its count", values[0]);
        workload.losses.push_back(std::move(loss));
        break;
      }
      default:
        throw Error("a record in the wrong table");
    }
  }

  void add_execution(const Term& record, const Kind& kind, std::span<const std::int64_t> values) {
    auto [execution, hole] = terms_.executions_[kind.prototype];
    execution.team = checked<std::uint32_t>("its team", values[0], 1);
    execution.parallel = checked<std::uint32_t>("its parallel construct", values[1]);
    execution.step = values[2];
    ExecutionExtra extra;
    if (!hole.parent) extra.parent = {execution_id(values[3]), values[4]};
    values = values.subspan(record.kind->fields.size());
    const Term &blocks = *record.children[0], &origins = *record.children[1];
    const std::string where = where_;
    const Body& body = body_of(blocks, values.first(blocks.numbers.size()));
    where_ = where;
    execution.iterations = body.blocks->blocks.empty() ? 0 : body.blocks->blocks.back().last;
    execution.accesses = body.accesses;
    execution.reads = body.reads;
    execution.writes = body.writes;
    execution.ordinal = ordinals_[execution.region]++;
    trace_.workload->executions.push_back(execution);
    trace_.workload->bodies.push_back(body.blocks);
    trace_.execution_extras.push_back(extra);
    std::vector<ItemOrigin>& list = trace_.origins.emplace_back();
    expand(origins, values.subspan(blocks.numbers.size()), [&](const Term& of, std::span<const std::int64_t> own) {
      auto [origin, missing] = terms_.origins_[terms_.known(of).prototype];
      origin.first = own[0];
      origin.first_sequence = checked<std::uint64_t>("its first sequence number", own[1]);
      origin.parent.iteration = own[2];
      if (!missing.parent) origin.parent.execution = execution_id(own[3]);
      if (!missing.creator) origin.creator = ThreadId{checked<std::uint32_t>("a creator", own.back())};
      list.push_back(origin);
    });
  }

  struct Body {
    std::shared_ptr<const ExecutionBody> blocks;
    std::uint64_t accesses = 0, reads = 0, writes = 0;
  };

  // Executions that do the same share one body.
  const Body& body_of(const Term& blocks, std::span<const std::int64_t> numbers) {
    std::vector<std::int64_t> key{static_cast<std::int64_t>(blocks.skeleton)};
    key.insert(key.end(), numbers.begin(), numbers.end());
    const auto [entry, fresh] = bodies_.try_emplace(std::move(key));
    if (!fresh) return entry->second;
    auto made = std::make_shared<ExecutionBody>();
    Body& body = entry->second;
    expand(blocks, numbers, [&](const Term& record, std::span<const std::int64_t> values) {
      const auto iterations = checked<std::int64_t>("a block's number of iterations", values[0], 1);
      ItemBlock block = block_of(record, values.subspan(1), iterations);
      block.first = made->blocks.empty() ? 0 : made->blocks.back().last;
      if (__builtin_add_overflow(block.first, iterations, &block.last)) throw UsageError(where_ + "too many iterations");
      const ItemPattern& pattern = trace_.workload->patterns[block.pattern.index()];
      add_to(body.accesses, pattern.accesses, iterations);
      add_to(body.reads, pattern.reads, iterations);
      add_to(body.writes, pattern.writes, iterations);
      made->blocks.push_back(std::move(block));
    });
    body.blocks = std::move(made);
    return body;
  }

  void add_to(std::uint64_t& sum, std::uint64_t of_one, std::int64_t iterations) {
    std::uint64_t product = 0;
    if (__builtin_mul_overflow(of_one, static_cast<std::uint64_t>(iterations), &product) || __builtin_add_overflow(sum, product, &sum))
      throw UsageError(where_ + "more accesses than 64 bits count");
  }

  // Slots by first use: one for each object and shift, based at its first access.
  std::uint16_t slot(ItemBlock& block, std::int64_t object, std::int64_t offset, std::int64_t shift, bool at_base) {
    const ObjectId id = object_id(object);
    for (std::size_t s = 0; s < block.slots.size(); ++s) {
      const SlotBinding& binding = block.slots[s];
      if (binding.object == id && binding.shift == shift && (!at_base || binding.base == offset)) return static_cast<std::uint16_t>(s);
    }
    if (block.slots.size() == std::numeric_limits<std::uint16_t>::max())
      throw UsageError(where_ + "an iteration would use more than 65535 objects");
    block.slots.push_back({id, offset, shift});
    return static_cast<std::uint16_t>(block.slots.size() - 1);
  }

  ItemBlock block_of(const Term& record, std::span<const std::int64_t> values, std::int64_t iterations) {
    ItemBlock block;
    ItemPattern pattern;
    const auto shift_of = [&](std::int64_t shift) { return iterations == 1 ? 0 : shift; };
    for (const TermPointer& part : record.children) {
      expand(*part, values.first(part->numbers.size()), [&](const Term& of, std::span<const std::int64_t> own) {
        const Kind& kind = terms_.known(of);
        if (kind.what == What::run) {
          AccessRun run = terms_.runs_[kind.prototype];
          run.slot = slot(block, own[0], own[1], shift_of(own[2]), false);
          run.offset = own[1] - block.slots[run.slot].base;
          run.sequence = checked<std::uint64_t>("a sequence number", own[3]);
          run.producer_distance = checked<std::uint32_t>("a distance to the producer", own[4]);
          for (unsigned d = 0; d < run.dimensions; ++d) {
            const std::int64_t* dimension = &own[5 + 3 * d];
            run.dimension[d] = {checked<std::uint32_t>("a count of " + kind.record.title, dimension[0]), dimension[1],
                                checked<std::uint32_t>("a sequence stride of " + kind.record.title, dimension[2])};
          }
          std::uint64_t accesses = 1;
          for (unsigned d = 0; d < run.dimensions; ++d)
            if (__builtin_mul_overflow(accesses, std::uint64_t{run.dimension[d].count}, &accesses))
              throw UsageError(where_ + "too many accesses");
          if (accesses == 0) return;  // a loop that runs not at all
          count(pattern, run.kind, accesses);
          pattern.runs.push_back(run);
        } else if (kind.what == What::stream) {
          IrregularStream stream = terms_.streams_[kind.prototype];
          for (const TermPointer& accesses : of.children) add_accesses(stream, block, *accesses, own, iterations);
          if (!of.children.empty()) own = {};
          std::vector<std::pair<std::uint16_t, std::int64_t>> slots;  // by local number, with the first access's offset from the base
          for (std::size_t s = 0; 3 * s < own.size(); ++s) {
            const std::uint16_t found = slot(block, own[3 * s], own[3 * s + 1], shift_of(own[3 * s + 2]), false);
            slots.emplace_back(found, own[3 * s + 1] - block.slots[found].base);
          }
          for (std::size_t i = 0; of.children.empty() && i < stream.slot.size(); ++i) {
            stream.offset[i] += slots[stream.slot[i]].second;
            stream.slot[i] = slots[stream.slot[i]].first;
          }
          count(pattern, stream.kind, stream.slot.size());
          pattern.streams.push_back(std::move(stream));
        } else if (kind.what == What::heap) {
          HeapEvent event = terms_.heap_events_[kind.prototype];
          event.slot = slot(block, own[0], own[1], shift_of(own[2]), true);
          event.sequence = checked<std::uint64_t>("a heap call's sequence number", own[3]);
          pattern.heap_events.push_back(event);
        } else {
          SyncEvent event = terms_.sync_events_[kind.prototype];
          event.sequence = checked<std::uint64_t>("a synchronisation's sequence number", own[0]);
          event.object = static_cast<std::uint64_t>(own[1]);
          event.match = static_cast<std::uint64_t>(own[2]);
          pattern.sync_events.push_back(event);
        }
      });
      values = values.subspan(part->numbers.size());
    }
    pattern.slots = static_cast<std::uint16_t>(block.slots.size());
    block.pattern = intern(std::move(pattern));
    return block;
  }

  void add_accesses(IrregularStream& stream, ItemBlock& block, const Term& accesses, std::span<const std::int64_t> numbers,
                    std::int64_t iterations) {
    expand(accesses, numbers, [&](const Term&, std::span<const std::int64_t> own) {
      const std::uint16_t found = slot(block, own[0], own[1], iterations == 1 ? 0 : own[2], false);
      stream.slot.push_back(found);
      stream.offset.push_back(own[1] - block.slots[found].base);
      stream.producer_distance.push_back(checked<std::uint32_t>("a distance to the producer", own[3]));
      stream.sequence.push_back(checked<std::uint64_t>("a sequence number", own[4]));
    });
  }

  static void count(ItemPattern& pattern, AccessKind kind, std::uint64_t accesses) {
    pattern.accesses += accesses;
    if (kind != AccessKind::write) pattern.reads += accesses;
    if (kind != AccessKind::read) pattern.writes += accesses;
  }

  PatternId intern(ItemPattern pattern) {
    std::vector<std::int64_t> key{pattern.slots};
    const auto add = [&](auto... values) { (key.push_back(static_cast<std::int64_t>(values)), ...); };
    for (const AccessRun& run : pattern.runs) {
      add(run.slot, run.width, run.kind, run.streamable, run.bulk, run.dimensions, run.producer_distance, run.site.value(), run.offset,
          run.sequence);
      for (unsigned d = 0; d < run.dimensions; ++d) add(run.dimension[d].count, run.dimension[d].stride, run.dimension[d].sequence_stride);
    }
    for (const IrregularStream& stream : pattern.streams) {
      add(-1, stream.site.value(), stream.kind, stream.width, stream.slot.size());
      for (std::size_t i = 0; i < stream.slot.size(); ++i)
        add(stream.slot[i], stream.offset[i], stream.producer_distance[i], stream.sequence[i]);
    }
    for (const HeapEvent& event : pattern.heap_events) add(-2, event.sequence, event.operation, event.slot, event.zeroed);
    for (const SyncEvent& event : pattern.sync_events) add(-3, event.sequence, event.operation, event.object, event.match);
    const auto [entry, fresh] = patterns_.emplace(std::move(key), PatternId{trace_.workload->patterns.size()});
    if (fresh) trace_.workload->patterns.push_back(std::move(pattern));
    return entry->second;
  }

  void check_references() {
    const Workload& workload = *trace_.workload;
    where_.clear();
    const auto within = [&](const char* what, auto id, std::size_t size) {
      if (!id.is_none() && id.index() >= size)
        throw UsageError(std::string("the trace would refer to ") + what + " " + std::to_string(id.value()) + " of " +
                         std::to_string(size));
    };
    for (const TracedObject& object : workload.objects) within("object", object.reallocated_from, workload.objects.size());
    for (const TracedThread& thread : workload.threads) within("thread", thread.parent, workload.threads.size());
    for (const ExecutionExtra& extra : trace_.execution_extras) within("execution", extra.parent.execution, workload.executions.size());
    for (const auto& list : trace_.origins)
      for (const ItemOrigin& origin : list) within("execution", origin.parent.execution, workload.executions.size());
    for (const Edge& edge : trace_.edges) {
      within("execution", edge.predecessor.execution, workload.executions.size());
      within("execution", edge.successor.execution, workload.executions.size());
    }
    for (const Mark& mark : trace_.marks) {
      within("execution", mark.item.execution, workload.executions.size());
      within("object", mark.object, workload.objects.size());
    }
    for (const Execution& execution : workload.executions) within("region", execution.region, workload.regions.size());
    for (const auto& body : bodies_)
      for (const ItemBlock& block : body.second.blocks->blocks)
        for (const SlotBinding& binding : block.slots) within("object", binding.object, workload.objects.size());
  }

  const TraceTerms& terms_;
  PredictedTrace trace_{std::make_shared<MemoryWorkload>(), 1, {}, {}, {}, {}, {}, {}};
  std::string where_;
  std::map<RegionId, std::uint32_t> ordinals_;
  std::map<std::vector<std::int64_t>, Body> bodies_;
  std::map<std::vector<std::int64_t>, PatternId> patterns_;
};

PredictedTrace TraceTerms::decode(const Term& root, std::span<const std::int64_t> numbers) const {
  return Decoder{*this}.run(root, numbers);
}

}  // namespace homenode::parametric
