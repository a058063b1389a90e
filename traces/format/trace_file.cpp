#include "traces/format/trace_file.hpp"

#include <algorithm>

#include "sim/base/errors.hpp"
#include "traces/format/trace_writer.hpp"

namespace homenode {

using format::ByteReader;
using format::DecodeError;

TraceFile::TraceFile(const std::filesystem::path& path) : TraceFile(path, false) {}

TraceFile::TraceFile(const std::filesystem::path& path, bool whole_frames_only) : reader_{path} { load(whole_frames_only); }

namespace {

constexpr auto item_type = static_cast<std::uint16_t>(RecordType::item);

// The row that a table's record describes; rows come in order, a row may come again.
template <class Row>
Row& row_of(std::vector<Row>& table, ByteReader& fields, const char* what) {
  const std::size_t row = fields.bounded<std::size_t>(what, table.size());
  if (row == table.size()) table.emplace_back();
  return table[row];
}

ItemReference decode_item(ByteReader& fields) {
  const auto execution = fields.id<ExecutionId>("an item's execution");
  return {execution, fields.signed_value()};
}

}  // namespace

void TraceFile::load(bool whole_frames_only) {
  std::uint64_t last = format::file_header_bytes;
  std::vector<std::uint64_t> item_frames;
  bool has_footer = false, has_meta = false;
  const auto wanted = [&](std::uint16_t type) { return type != item_type || whole_frames_only; };
  const auto visit = [&](const format::Frame& frame) {
    last = frame.offset;
    if (has_footer) reader_.fail(frame.offset, "damaged: a frame follows the footer");
    if (frame.type == 0 || frame.type > last_record_type) {
      if (!frame.critical) return;
      try {
        format::refuse_record(frame.type, record_names_);
      } catch (const DecodeError& error) { reader_.fail(frame.offset, error.message); }
    }
    if (frame.type == item_type) {
      item_frames.push_back(frame.offset);
      if (!whole_frames_only) return;
    }
    try {
      decode_table(frame);
    } catch (const DecodeError& error) {
      reader_.fail(frame.offset, std::string("in ") + name_of(static_cast<RecordType>(frame.type)) + ": " + error.message);
    }
    has_footer = frame.type == static_cast<std::uint16_t>(RecordType::footer);
    has_meta = has_meta || frame.type == static_cast<std::uint16_t>(RecordType::meta);
  };
  reader_.walk(wanted, visit, whole_frames_only);
  if (!whole_frames_only && (!has_footer || !has_meta)) reader_.fail(last, "damaged: the trace has no META and FOOTER");
  for (const std::vector<std::uint64_t>& offsets : frames_) {
    for (const std::uint64_t offset : offsets) {
      if (!std::binary_search(item_frames.begin(), item_frames.end(), offset)) {
        reader_.fail(last, "damaged: INDEX points to offset " + std::to_string(offset) + ", where no ITEM frame is");
      }
    }
  }
  try {
    renumber(whole_frames_only);
    validate();
  } catch (const DecodeError& error) { reader_.fail(last, error.message); }
}

void TraceFile::decode_table(const format::Frame& frame) {
  const auto text = [this](std::uint64_t id) -> const std::string& {
    if (id >= strings_.size()) {
      throw DecodeError{"string " + std::to_string(id) + " is not defined; " + std::to_string(strings_.size()) + " strings are"};
    }
    return strings_[id];
  };
  format::for_each_record(ByteReader{frame.raw}, record_names_, [&](RecordType type, ByteReader& in) {
    switch (type) {
      case RecordType::meta: {
        for (std::string* field : {&meta.tool, &meta.compiler, &meta.compiler_flags, &meta.program, &meta.arguments}) *field = in.text();
        meta.capture_threads = in.bounded<std::uint32_t>("the number of capture threads", 0xFFFFFFFF);
        meta.page_size = in.unsigned_value();
        if (meta.page_size == 0 || (meta.page_size & (meta.page_size - 1)) != 0) {
          throw DecodeError{"a page of " + std::to_string(meta.page_size) + " bytes; a power of two is allowed"};
        }
        meta.features.assign(in.count("the number of features"), {});
        lacks.clear();
        for (std::string& feature : meta.features) {
          feature = in.text();
          if (feature.starts_with(lacking_feature)) lacks.push_back(feature.substr(lacking_feature.size()));
        }
        meta.complete = in.byte() != 0;
        record_names_.assign(in.count("the number of record names") + 1, {});
        for (std::size_t i = 1; i < record_names_.size(); ++i) record_names_[i] = in.text();
        program = meta.program;
        compiler = meta.compiler;
        arguments = meta.arguments;
        page_size = meta.page_size;
        complete = meta.complete;
        return true;
      }
      case RecordType::string: {
        std::string& row = row_of(strings_, in, "a string's id");  // the id comes before the text
        row = in.text();
        return true;
      }
      case RecordType::site: {
        const std::size_t before = sites.size();
        Site& site = row_of(sites, in, "a site's id");
        const auto row = static_cast<std::size_t>(&site - sites.data());
        if (sites.size() != before) site_extras.emplace_back();
        site.pc = in.unsigned_value();
        site.file = text(in.unsigned_value());
        site.line = in.bounded<std::uint32_t>("a site's line", 0xFFFFFFFF);
        site.function = text(in.unsigned_value());
        site_extras[row].inline_parent = in.id<SiteId>("a site's inline parent");
        return true;
      }
      case RecordType::thread: {
        const std::size_t before = threads.size();
        TracedThread& thread = row_of(threads, in, "a thread's id");
        const auto row = static_cast<std::size_t>(&thread - threads.data());
        if (threads.size() != before) thread_extras.emplace_back();
        thread.parent = in.id<ThreadId>("a thread's parent");
        thread.routine = text(in.unsigned_value());
        thread.rank = static_cast<std::int32_t>(in.signed_value());
        thread_extras[row] = {in.unsigned_value(), in.unsigned_value()};
        return true;
      }
      case RecordType::region: {
        Region& region = row_of(regions, in, "a region's id");
        region.kind = static_cast<RegionKind>(in.bounded<std::uint8_t>("a region's kind", 5));
        region.label = text(in.unsigned_value());
        region.site = in.id<SiteId>("a region's site");
        region.dimensions.assign(in.count("a region's dimensions"), {});
        for (LoopDimension& dimension : region.dimensions) {
          dimension.low = in.signed_value();
          dimension.high = in.signed_value();
          dimension.step = in.signed_value();
        }
        const std::uint8_t flags = in.byte();
        region.nowait = (flags & 1) != 0;
        region.ordered = (flags & 2) != 0;
        region.reduction = (flags & 4) != 0;
        region.schedule_clause = text(in.unsigned_value());
        return true;
      }
      case RecordType::object: {
        TracedObject& object = row_of(objects, in, "an object's id");
        object.kind = static_cast<ObjectKind>(in.bounded<std::uint8_t>("an object's kind", 5));
        object.thread_private = in.byte() != 0;
        object.bytes = in.unsigned_value();
        object.alignment = in.unsigned_value();
        object.site = in.id<SiteId>("an object's site");
        object.symbol = text(in.unsigned_value());
        object.reallocated_from = in.id<ObjectId>("the object that an object was reallocated from");
        object.owner_hint = static_cast<std::int32_t>(in.signed_value());
        return true;
      }
      case RecordType::execution: {
        const auto row = in.bounded<std::size_t>("an execution's id", 0xFFFFFFFE);
        // Executions become known when their first blocks are written, which may be out of order, but every id comes in time:
        // an id far beyond the size of the file is an error, not a reason to allocate.
        if (row > reader_.file_bytes() + stored_.size()) throw DecodeError{"execution " + std::to_string(row) + " in so small a file"};
        if (row >= stored_.size()) stored_.resize(row + 1);
        StoredExecution& stored = stored_[row];
        stored.known = true;
        stored.order = in.unsigned_value();
        Execution& execution = stored.execution;
        execution.region = in.id<RegionId>("an execution's region");
        execution.ordinal = in.bounded<std::uint32_t>("an execution's ordinal", 0xFFFFFFFF);
        execution.iterations = in.signed_value();
        execution.binding =
            static_cast<Binding>(in.bounded<std::uint8_t>("an execution's binding", static_cast<std::uint64_t>(Binding::replicated)));
        execution.team = in.bounded<std::uint32_t>("an execution's team", 0xFFFFFFFF);
        execution.parallel = in.bounded<std::uint32_t>("an execution's parallel construct", 0xFFFFFFFF);
        execution.barrier_after = in.byte() != 0;
        execution.step = in.signed_value();
        execution.accesses = in.unsigned_value();
        execution.reads = in.unsigned_value();
        execution.writes = in.unsigned_value();
        stored.extra.parent = decode_item(in);
        return true;
      }
      case RecordType::pattern: {
        format::StoredPattern stored = format::decode_pattern(in, record_names_, text);
        patterns.push_back(std::move(stored.pattern));
        segments.push_back(std::move(stored.segments));
        pattern_regions.push_back(stored.region);
        return true;
      }
      case RecordType::item: {  // only walked for a recovery: which frames hold which execution
        const auto row = in.bounded<std::size_t>("an item's execution", 0xFFFFFFFE);
        if (row > reader_.file_bytes() + frames_.size()) throw DecodeError{"execution " + std::to_string(row) + " in so small a file"};
        if (row >= frames_.size()) frames_.resize(row + 1);
        if (frames_[row].empty() || frames_[row].back() != frame.offset) frames_[row].push_back(frame.offset);
        return true;
      }
      case RecordType::edge: {
        Edge edge;
        edge.predecessor = decode_item(in);
        edge.successor = decode_item(in);
        edge.kind = static_cast<EdgeKind>(in.bounded<std::uint8_t>("an edge's kind", static_cast<std::uint64_t>(EdgeKind::match)));
        edges.push_back(edge);
        return true;
      }
      case RecordType::mark: {
        Mark mark;
        mark.item = decode_item(in);
        mark.sequence = in.unsigned_value();
        mark.operation =
            static_cast<MarkOperation>(in.bounded<std::uint8_t>("a mark", static_cast<std::uint64_t>(MarkOperation::thread_type)));
        mark.value = in.signed_value();
        mark.object = in.id<ObjectId>("a mark's object");
        mark.text = text(in.unsigned_value());
        marks.push_back(std::move(mark));
        return true;
      }
      case RecordType::calibration: {
        Calibration calibration;
        calibration.region = in.id<RegionId>("a calibration's region");
        calibration.cost_class = text(in.unsigned_value());
        calibration.cycles = in.real();
        calibration.clock_hertz = in.real();
        calibration.host = text(in.unsigned_value());
        calibration.measured = in.byte() != 0;
        calibrations.push_back(std::move(calibration));
        return true;
      }
      case RecordType::loss: {
        Loss loss;
        loss.site = in.id<SiteId>("a loss's site");
        loss.reason = text(in.unsigned_value());
        loss.count = in.unsigned_value();
        losses.push_back(std::move(loss));
        return true;
      }
      case RecordType::segment: {
        const auto region = in.id<RegionId>("a work rate's region");
        const WorkCounts per_access = format::decode_work(in);
        rates_[region] = {per_access, format::decode_work(in)};
        return true;
      }
      case RecordType::index: {
        std::vector<std::uint64_t>& offsets = row_of(frames_, in, "an execution's id in the index");
        offsets.assign(in.count("the number of an execution's frames"), 0);
        std::uint64_t offset = 0;
        for (std::uint64_t& next : offsets) next = offset += in.unsigned_value();
        return true;
      }
      case RecordType::footer: {
        complete = in.byte() != 0;
        const auto expect = [](const char* what, std::uint64_t found, std::uint64_t stored) {
          if (found != stored) {
            throw DecodeError{std::string("the footer states ") + std::to_string(stored) + " " + what + ", the file has " +
                              std::to_string(found)};
          }
        };
        expect("executions", stored_.size(), in.unsigned_value());
        expect("patterns", patterns.size(), in.unsigned_value());
        expect("objects", objects.size(), in.unsigned_value());
        std::uint64_t accesses = 0, reads = 0, writes = 0;
        for (const StoredExecution& stored : stored_) {
          accesses += stored.execution.accesses;
          reads += stored.execution.reads;
          writes += stored.execution.writes;
        }
        expect("accesses", accesses, in.unsigned_value());
        expect("reads", reads, in.unsigned_value());
        expect("writes", writes, in.unsigned_value());
        content_hash = in.text();
        return true;
      }
      default:
        return false;
    }
  });
}

// Program order, ordinals, the work of patterns.
void TraceFile::renumber(bool whole_frames_only) {
  frames_.resize(std::max(frames_.size(), stored_.size()));
  for (std::uint32_t row = 0; row < stored_.size(); ++row) {
    if (stored_[row].known)
      file_id_.push_back(row);
    else if (!whole_frames_only)
      throw DecodeError{"execution " + std::to_string(row) + " is missing"};
  }
  if (frames_.size() > stored_.size() && !whole_frames_only) throw DecodeError{"INDEX has more executions than EXECUTION"};
  std::stable_sort(file_id_.begin(), file_id_.end(), [&](std::uint32_t a, std::uint32_t b) { return stored_[a].order < stored_[b].order; });
  std::vector<std::uint32_t> position(stored_.size(), 0);
  for (std::uint32_t e = 0; e < file_id_.size(); ++e) {
    executions.push_back(stored_[file_id_[e]].execution);
    execution_extras.push_back(stored_[file_id_[e]].extra);
    position[file_id_[e]] = e;
  }
  const auto place = [&](ItemReference& item) {
    if (item.execution.is_none()) return;
    if (item.execution.index() >= position.size()) {
      throw DecodeError{"a record refers to execution " + std::to_string(item.execution.value()) + " of " +
                        std::to_string(position.size())};
    }
    item.execution = ExecutionId{position[item.execution.index()]};
  };
  for (ExecutionExtra& extra : execution_extras) place(extra.parent);
  for (Edge& edge : edges) {
    place(edge.predecessor);
    place(edge.successor);
  }
  for (Mark& mark : marks) place(mark.item);
  for (std::size_t p = 0; p < patterns.size(); ++p) {
    const auto rate = rates_.find(pattern_regions[p]);
    if (rate == rates_.end()) continue;
    patterns[p].work += rate->second.per_access.scaled(static_cast<double>(patterns[p].accesses));
    patterns[p].work += rate->second.per_iteration;
  }
}

void TraceFile::validate() const {
  const auto within = [](const char* what, auto id, std::size_t size) {
    if (!id.is_none() && id.index() >= size) {
      throw DecodeError{std::string(what) + " " + std::to_string(id.value()) + " is referred to; " + std::to_string(size) + " are defined"};
    }
  };
  for (const Region& region : regions) within("site", region.site, sites.size());
  for (const TracedObject& object : objects) {
    within("site", object.site, sites.size());
    within("object", object.reallocated_from, objects.size());
  }
  for (const SiteExtra& extra : site_extras) within("site", extra.inline_parent, sites.size());
  for (const TracedThread& thread : threads) within("thread", thread.parent, threads.size());
  for (const Loss& loss : losses) within("site", loss.site, sites.size());
  for (const Mark& mark : marks) within("object", mark.object, objects.size());
  for (const Execution& execution : executions) {
    if (execution.region.index() >= regions.size()) throw DecodeError{"an execution of an unknown region"};
    if (execution.iterations < 0 || execution.team == 0) throw DecodeError{"an execution with a negative number of iterations or no team"};
  }
  for (const ItemPattern& pattern : patterns) {
    for (const AccessRun& run : pattern.runs) within("site", run.site, sites.size());
    for (const IrregularStream& stream : pattern.streams) within("site", stream.site, sites.size());
  }
}

// Calls visit(fields) for each ITEM record of an execution, after the execution's id.
template <class Visit>
void TraceFile::for_each_part(ExecutionId execution, Visit&& visit) const {
  const std::uint32_t row = file_id_.at(execution.index());
  for (const std::uint64_t offset : frames_[row]) {
    const format::Frame frame = reader_.read(offset);
    try {
      format::for_each_record(ByteReader{frame.raw}, record_names_, [&](RecordType type, ByteReader& fields) {
        if (type != RecordType::item) return false;
        if (fields.unsigned_value() == row) visit(fields);
        return true;
      });
    } catch (const DecodeError& error) { reader_.fail(offset, "in ITEM: " + error.message); }
  }
}

namespace {

struct Part {
  std::vector<ItemBlock> blocks;
  std::vector<ItemOrigin> origins;
};

Part decode_part(ByteReader& in, std::size_t patterns, const std::vector<std::string>& names) {
  Part part;
  part.blocks.resize(in.count("the number of blocks"));
  std::int64_t next = in.signed_value();
  for (ItemBlock& block : part.blocks) {
    block.first = next;
    const std::uint64_t length = in.unsigned_value();
    if (length == 0 || __builtin_add_overflow(next, static_cast<std::int64_t>(length), &next) || next <= block.first) {
      throw DecodeError{"a block of " + std::to_string(length) + " iterations"};
    }
    block.last = next;
  }
  std::int64_t pattern = 0;
  for (ItemBlock& block : part.blocks) {
    pattern = static_cast<std::int64_t>(static_cast<std::uint64_t>(pattern) + static_cast<std::uint64_t>(in.signed_value()));
    if (pattern < 0 || static_cast<std::uint64_t>(pattern) >= patterns) {
      throw DecodeError{"pattern " + std::to_string(pattern) + " of " + std::to_string(patterns)};
    }
    block.pattern = PatternId{static_cast<std::size_t>(pattern)};
  }
  std::size_t slots = 0;
  for (ItemBlock& block : part.blocks) {
    const auto count = in.bounded<std::size_t>("a block's number of slots", most_slots);
    if ((slots += count) > in.remaining()) throw DecodeError{"more slots than the record holds"};
    block.slots.resize(count);
  }
  format::for_each_record(in, names, [&](RecordType type, ByteReader& fields) {
    if (type == RecordType::instance) {
      const auto column = [&](const auto& apply) {
        const std::vector<SlotBinding>* previous = nullptr;
        for (ItemBlock& block : part.blocks) {
          for (std::size_t s = 0; s < block.slots.size(); ++s) {
            const auto before = previous != nullptr && s < previous->size() ? (*previous)[s] : SlotBinding{ObjectId{0}, 0, 0};
            apply(block.slots[s], before, static_cast<std::uint64_t>(fields.signed_value()));
          }
          previous = &block.slots;
        }
      };
      column([](SlotBinding& now, const SlotBinding& before, std::uint64_t difference) {
        now.object = ObjectId{static_cast<std::uint32_t>(before.object.value() + difference)};
      });
      column([](SlotBinding& now, const SlotBinding& before, std::uint64_t difference) {
        now.base = static_cast<std::int64_t>(static_cast<std::uint64_t>(before.base) + difference);
      });
      column([](SlotBinding& now, const SlotBinding& before, std::uint64_t difference) {
        now.shift = static_cast<std::int64_t>(static_cast<std::uint64_t>(before.shift) + difference);
      });
      return true;
    }
    if (type == RecordType::item) {
      ItemOrigin origin;
      origin.first = fields.signed_value();
      origin.parent = decode_item(fields);
      origin.creator = fields.id<ThreadId>("an item's creator");
      origin.first_sequence = fields.unsigned_value();
      origin.thread_body = fields.byte() != 0;
      part.origins.push_back(origin);
      return true;
    }
    return false;
  });
  return part;
}

}  // namespace

std::shared_ptr<const ExecutionBody> TraceFile::body(ExecutionId id) const {
  if (id.index() >= executions.size()) {
    throw UsageError("execution " + std::to_string(id.value()) + " of a trace with " + std::to_string(executions.size()));
  }
  {
    const std::lock_guard lock{mutex_};
    for (auto entry = cache_.begin(); entry != cache_.end(); ++entry) {
      if (entry->first != id) continue;
      cache_.splice(cache_.begin(), cache_, entry);
      return cache_.front().second;
    }
  }
  auto body = std::make_shared<ExecutionBody>();
  for_each_part(id, [&](ByteReader& fields) {
    Part part = decode_part(fields, patterns.size(), record_names_);
    for (ItemBlock& block : part.blocks) {
      if (block.first != (body->blocks.empty() ? 0 : body->blocks.back().last))
        throw DecodeError{"a gap between the blocks of an execution"};
      if (block.slots.size() != patterns[block.pattern.index()].slots)
        throw DecodeError{"a block whose slots are not those of its pattern"};
      for (const SlotBinding& slot : block.slots) {
        if (slot.object.index() >= objects.size()) throw DecodeError{"object " + std::to_string(slot.object.value()) + " is not defined"};
      }
      body->blocks.push_back(std::move(block));
    }
  });
  const std::int64_t described = body->blocks.empty() ? 0 : body->blocks.back().last;
  if (described != executions[id.index()].iterations) {
    reader_.fail(frames_[file_id_[id.index()]].empty() ? 0 : frames_[file_id_[id.index()]].back(),
                 "execution " + std::to_string(id.value()) + " has " + std::to_string(executions[id.index()].iterations) +
                     " iterations, its blocks " + std::to_string(described));
  }
  const std::lock_guard lock{mutex_};
  cache_.emplace_front(id, body);
  if (cache_.size() > cached_bodies) cache_.pop_back();
  return body;
}

std::vector<ItemOrigin> TraceFile::origins(ExecutionId id) const {
  std::vector<ItemOrigin> all;
  std::map<std::uint32_t, std::uint32_t> position;
  for (std::uint32_t e = 0; e < file_id_.size(); ++e) position[file_id_[e]] = e;
  for_each_part(id, [&](ByteReader& fields) {
    for (ItemOrigin origin : decode_part(fields, patterns.size(), record_names_).origins) {
      if (!origin.parent.execution.is_none()) {
        const auto place = position.find(origin.parent.execution.value());
        if (place == position.end()) throw DecodeError{"an item of an unknown execution"};
        origin.parent.execution = ExecutionId{place->second};
      }
      all.push_back(origin);
    }
  });
  return all;
}

std::shared_ptr<Workload> open_trace(const std::filesystem::path& path) { return std::make_shared<TraceFile>(path); }

void recover(const std::filesystem::path& part, const std::filesystem::path& target) {
  TraceFile file{part, true};
  // The counts written with the blocks may be older than the blocks: take what the blocks say.
  for (std::size_t e = 0; e < file.executions.size(); ++e) {
    Execution& execution = file.executions[e];
    execution.iterations = 0;
    file.for_each_part(ExecutionId{e}, [&](ByteReader& fields) {
      const Part decoded = decode_part(fields, file.patterns.size(), file.record_names_);
      if (!decoded.blocks.empty()) execution.iterations = decoded.blocks.back().last;
    });
  }
  file.complete = false;
  write_trace(target, file);
}

}  // namespace homenode
