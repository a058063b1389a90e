#include "traces/parametric/trace_terms.hpp"

#include "sim/base/errors.hpp"
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
    case AccessKind::read: return "read";
    case AccessKind::write: return "write";
    case AccessKind::read_modify_write: return "read and write";
    case AccessKind::atomic: return "atomic access";
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
      SlotNumber number = 0;   // by first use
      std::int64_t first = 0;  // offset of its first access
      Place place;
    };
    std::map<SlotNumber, Slot> slots;
    for (std::size_t i = 0; i < stream.slot.size(); ++i) {
      const auto number = static_cast<SlotNumber>(slots.size());
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
      common.slot.set(i, slot.number);
      common.offset.set(i, stream.offset[i] - slot.first);
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

}  // namespace homenode::parametric
