// The way back: a term and its numbers into a trace.
#include <algorithm>
#include <limits>

#include "sim/base/errors.hpp"
#include "traces/format/content_hash.hpp"
#include "traces/parametric/trace_terms.hpp"

namespace homenode::parametric {

const TraceTerms::Kind& TraceTerms::known(const Term& term) const { return *by_record_.at(term.kind); }

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
      case What::execution: add_execution(record, kind, values); break;
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
      default: throw Error("a record in the wrong table");
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
  SlotNumber slot(ItemBlock& block, std::int64_t object, std::int64_t offset, std::int64_t shift, bool at_base) {
    const ObjectId id = object_id(object);
    for (std::size_t s = 0; s < block.slots.size(); ++s) {
      const SlotBinding& binding = block.slots[s];
      if (binding.object == id && binding.shift == shift && (!at_base || binding.base == offset)) return static_cast<SlotNumber>(s);
    }
    if (block.slots.size() == 65535)  // they are searched one by one
      throw UsageError(where_ + "an iteration would use more than 65535 objects");
    block.slots.push_back({id, offset, shift});
    return static_cast<SlotNumber>(block.slots.size() - 1);
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
          std::vector<std::pair<SlotNumber, std::int64_t>> slots;  // by local number, with the first access's offset from the base
          for (std::size_t s = 0; 3 * s < own.size(); ++s) {
            const SlotNumber found = slot(block, own[3 * s], own[3 * s + 1], shift_of(own[3 * s + 2]), false);
            slots.emplace_back(found, own[3 * s + 1] - block.slots[found].base);
          }
          for (std::size_t i = 0; of.children.empty() && i < stream.slot.size(); ++i) {
            stream.offset.set(i, stream.offset[i] + slots[stream.slot[i]].second);
            stream.slot.set(i, slots[stream.slot[i]].first);
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
    pattern.slots = static_cast<SlotNumber>(block.slots.size());
    block.pattern = intern(std::move(pattern));
    return block;
  }

  void add_accesses(IrregularStream& stream, ItemBlock& block, const Term& accesses, std::span<const std::int64_t> numbers,
                    std::int64_t iterations) {
    expand(accesses, numbers, [&](const Term&, std::span<const std::int64_t> own) {
      const SlotNumber found = slot(block, own[0], own[1], iterations == 1 ? 0 : own[2], false);
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
  PredictedTrace trace_{.workload = std::make_shared<MemoryWorkload>()};
  std::string where_;
  std::map<RegionId, std::uint32_t> ordinals_;
  std::map<std::vector<std::int64_t>, Body> bodies_;
  std::map<std::vector<std::int64_t>, PatternId> patterns_;
};

PredictedTrace TraceTerms::decode(const Term& root, std::span<const std::int64_t> numbers) const {
  return Decoder{*this}.run(root, numbers);
}

}  // namespace homenode::parametric
