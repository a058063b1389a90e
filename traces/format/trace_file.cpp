#include "traces/format/trace_file.hpp"

#include <algorithm>

#include "sim/base/errors.hpp"
#include "traces/format/invariants_of_tasks.hpp"
#include "traces/format/records/codec.hpp"
#include "traces/format/trace_writer.hpp"

namespace homenode {

using format::ByteReader;
using format::DecodeError;

TraceFile::TraceFile(const std::filesystem::path& path, TraceRules rules) : TraceFile(path, rules, false) {}

TraceFile::TraceFile(const std::filesystem::path& path, TraceRules rules, bool whole_frames_only)
    : path_{path}, reader_{path}, rules_{rules} {
  load(whole_frames_only);
  if (rules == TraceRules::references) return;
  for (std::size_t p = 0; p < patterns.size(); ++p) checker_.check_pattern(p);
  if (!checker_.problems().empty()) refuse_problem(checker_.problems().front());
  const std::vector<std::string> of_tasks = broken_invariants_of_tasks(*this);
  if (!of_tasks.empty()) refuse_problem(of_tasks.front());
}

void TraceFile::refuse_problem(const std::string& problem) const {
  throw InputError(path_.string() + ": " + problem + "; `homenode check` lists all that is wrong");
}

namespace {

constexpr auto item_type = static_cast<std::uint16_t>(RecordType::item);

}  // namespace

void TraceFile::load(bool whole_frames_only) {
  std::uint64_t last = format::file_header_bytes;
  std::vector<std::uint64_t> item_frames;
  bool has_footer = false, has_meta = false;
  const auto wanted = [&](std::uint16_t type) { return type <= last_record_type && (type != item_type || whole_frames_only); };
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
      take_records(frame);
    } catch (const DecodeError& error) {
      reader_.fail(frame.offset, std::string("in ") + name_of(static_cast<RecordType>(frame.type)) + ": " + error.message);
    }
    has_footer = frame.type == static_cast<std::uint16_t>(RecordType::footer);
    has_meta = has_meta || frame.type == static_cast<std::uint16_t>(RecordType::meta);
  };
  reader_.walk(wanted, visit, whole_frames_only);
  if (!whole_frames_only && (!has_footer || !has_meta)) reader_.fail(last, "damaged: the trace has no META and FOOTER");
  for (const format::FrameOffsets& frames : frames_) {
    for (const std::uint64_t offset : frames.offsets) {
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

// Calls visit(fields) for each ITEM record of an execution, after the execution's id.
template <class Visit>
void TraceFile::for_each_part(ExecutionId execution, Visit&& visit) const {
  const std::uint32_t row = file_id_.at(execution.index());
  for (const std::uint64_t offset : frames_[row].offsets) {
    const format::Frame frame = reader_.read(offset);
    try {
      bool found = false;
      format::for_each_record(ByteReader{frame.raw}, record_names_, [&](RecordType type, ByteReader& fields) {
        if (type != RecordType::item) return false;
        if (fields.unsigned_value() == row) visit(fields), found = true;
        return true;
      });
      if (!found) throw DecodeError{"nothing of execution " + std::to_string(row) + ", which INDEX finds here"};
    } catch (const DecodeError& error) { reader_.fail(offset, "in ITEM: " + error.message); }
  }
}

std::shared_ptr<const ExecutionBody> TraceFile::body(ExecutionId id) const {
  if (id.index() >= executions.size()) {
    throw UsageError("execution " + std::to_string(id.value()) + " of a trace with " + std::to_string(executions.size()));
  }
  {
    const std::lock_guard lock{mutex_};
    for (auto entry = cache_.begin(); entry != cache_.end(); ++entry) {
      if (entry->execution != id) continue;
      cache_.splice(cache_.begin(), cache_, entry);
      return cache_.front().body;
    }
  }
  auto body = std::make_shared<ExecutionBody>();
  std::size_t slots = 0;
  for_each_part(id, [&](ByteReader& fields) {
    format::BodyPart part = format::decode_part(fields, patterns.size(), record_names_);
    for (ItemBlock& block : part.blocks) {
      if (block.first != (body->blocks.empty() ? 0 : body->blocks.back().last))
        throw DecodeError{"a gap between the blocks of an execution"};
      if (block.slots.size() != patterns[block.pattern.index()].slots)
        throw DecodeError{"a block whose slots are not those of its pattern"};
      for (const SlotBinding& slot : block.slots) {
        if (slot.object.index() >= objects.size()) throw DecodeError{"object " + std::to_string(slot.object.value()) + " is not defined"};
      }
      slots += 1 + block.slots.size();
      body->blocks.push_back(std::move(block));
    }
  });
  const std::int64_t described = body->blocks.empty() ? 0 : body->blocks.back().last;
  if (described != executions[id.index()].iterations) {
    const std::vector<std::uint64_t>& offsets = frames_[file_id_[id.index()]].offsets;
    reader_.fail(offsets.empty() ? 0 : offsets.back(), "execution " + std::to_string(id.value()) + " has " +
                                                           std::to_string(executions[id.index()].iterations) + " iterations, its blocks " +
                                                           std::to_string(described));
  }
  if (rules_ == TraceRules::all) {
    const std::lock_guard lock{checking_};
    checker_.check_execution(id.index(), *body);
    if (!checker_.problems().empty()) refuse_problem(checker_.problems().front());
  }
  const std::lock_guard lock{mutex_};
  cache_.push_front({id, body, slots <= small_body});
  const auto alike = [small = cache_.front().small](const CachedBody& cached) { return cached.small == small; };
  if (std::count_if(cache_.begin(), cache_.end(), alike) >
      static_cast<std::ptrdiff_t>(slots <= small_body ? cached_small_bodies : cached_bodies))
    cache_.erase(std::next(std::find_if(cache_.rbegin(), cache_.rend(), alike)).base());
  return body;
}

std::vector<ItemOrigin> TraceFile::origins(ExecutionId id) const {
  std::vector<ItemOrigin> all;
  std::map<std::uint32_t, std::uint32_t> position;
  for (std::uint32_t e = 0; e < file_id_.size(); ++e) position[file_id_[e]] = e;
  for_each_part(id, [&](ByteReader& fields) {
    for (ItemOrigin origin : format::decode_part(fields, patterns.size(), record_names_).origins) {
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
  TraceFile file{part, TraceRules::references, true};
  // The counts written with the blocks may be older than the blocks: take what the blocks say.
  for (std::size_t e = 0; e < file.executions.size(); ++e) {
    Execution& execution = file.executions[e];
    execution.iterations = 0;
    file.for_each_part(ExecutionId{e}, [&](ByteReader& fields) {
      const format::BodyPart decoded = format::decode_part(fields, file.patterns.size(), file.record_names_);
      if (!decoded.blocks.empty()) execution.iterations = decoded.blocks.back().last;
    });
  }
  file.complete = false;
  if (file.sites.empty()) file.sites.emplace_back();  // nowhere, to which the loss below refers
  const auto says_why = [](const Loss& loss) { return loss.reason.starts_with(truncation_prefix); };
  if (std::none_of(file.losses.begin(), file.losses.end(), says_why))
    file.losses.push_back(truncation("homenode capture was killed before it could finish the trace"));
  write_trace(target, file);
}

}  // namespace homenode
