#include "traces/capture/assembler/assembler.hpp"

#include <algorithm>

#include "sim/base/errors.hpp"
#include "traces/capture/assembler/state.hpp"

extern "C" {
#include "traces/capture/runtime/stream.h"
}

namespace homenode {
namespace {

bool is_of_a_construct(std::uint8_t opcode) {
  switch (opcode) {
    case HN_PARALLEL_BEGIN:
    case HN_PARALLEL_END:
    case HN_LOOP_BEGIN:
    case HN_ITEM:
    case HN_LOOP_END:
    case HN_BARRIER:
    case HN_SECTIONS_BEGIN:
    case HN_SINGLE:
    case HN_SINGLE_END:
      return true;
    default:
      return false;
  }
}

}  // namespace

Assembler::Assembler(int descriptor, const AssembleOptions& options) : in_{descriptor}, options_{options}, writer_{options.output} {
  program_name_ = options.label.empty() ? std::filesystem::path{options.program}.filename().string() : options.label;
  for (const std::string& word : options.arguments) arguments_ += (arguments_.empty() ? "" : " ") + word;
  begin_serial();
}

AssembleResult Assembler::run() {
  try {
    std::uint8_t opcode;
    while (!ended_ && in_.byte(opcode)) {
      if (opcode == HN_ACCESS || opcode == HN_PAIR) {
        short_message(opcode == HN_PAIR);
      } else {
        message(opcode);
      }
    }
  } catch (const CaptureStream::Ended&) { result_.complete = false; }
  cut_ = !ended_;
  if (options_.was_asked_to_end && options_.was_asked_to_end()) result_.complete = false;
  thread_ = 0;
  end_threads();
  if (in_parallel_) end_parallel();
  end_serial();
  finish();
  return result_;
}

void Assembler::message(std::uint8_t opcode) {
  if (opcode != HN_RUN && opcode != HN_RUN_SAME && opcode != HN_ITEM && opcode != HN_PC) current().only_runs = false;
  if (in_parallel_ && thread_ == 0 && task_stacks_[rank_].open > 0 && is_of_a_construct(opcode))
    throw InputError("the capture stream has a construct inside a task of its own team; allowed: those of an inner team");
  switch (opcode) {
    case HN_HELLO: {
      const std::uint64_t version = in_.u64();
      if (version != HN_STREAM_VERSION)
        throw InputError("the capture stream is of version " + std::to_string(version) + "; allowed: " + std::to_string(HN_STREAM_VERSION) +
                         " (recompile the program with this homenode)");
      page_size_ = in_.u64();
      objects_.page_size(page_size_);
      team_ = static_cast<std::uint32_t>(in_.u64());
      const std::uint64_t low = in_.u64(), high = in_.u64();
      objects_.add_stack(low, high);
      for (std::uint32_t r = 0; r < team_; ++r)
        threads_.push_back({r == 0 ? ThreadId::none() : ThreadId{0}, r == 0 ? "main" : "team", static_cast<std::int32_t>(r)});
      break;
    }
    case HN_MODULE:
      module();
      break;
    case HN_PC: {
      const std::uint64_t id = in_.u64();
      if (id != pcs_.size()) throw InputError("the capture stream defines access site " + std::to_string(id) + " out of order");
      Pc pc;
      pc.kind = static_cast<AccessKind>(in_.u64() & 3);
      pc.width = static_cast<std::uint16_t>(in_.u64());
      pc.bulk = in_.u64() & HN_FLAG_BULK;
      const CallSite site = call_site();
      pc.site = program_.site_id(site);
      pcs_.push_back(pc);
      break;
    }
    case HN_RUN:
      run_message(false);
      break;
    case HN_RUN_SAME:
      run_message(true);
      break;
    case HN_COLUMN:
      column();
      break;
    case HN_ALLOCATE:
      allocate();
      break;
    case HN_RELEASE:
      release();
      break;
    case HN_FRAME: {
      const auto rank = static_cast<std::uint32_t>(in_.u64());
      const std::uint64_t low = in_.u64(), high = in_.u64();
      objects_.frame(rank, low, high, call_site(), in_parallel_);
      break;
    }
    case HN_TLS: {
      const auto rank = static_cast<std::uint32_t>(in_.u64());
      const std::uint64_t low = in_.u64(), high = in_.u64();
      objects_.thread_local_block(rank, low, high);
      break;
    }
    case HN_STACK: {
      in_.u64();
      const std::uint64_t low = in_.u64(), high = in_.u64();
      objects_.add_stack(low, high);
      break;
    }
    case HN_PARALLEL_BEGIN: {
      const std::uint64_t serial = in_.u64();
      const auto team = static_cast<std::uint32_t>(in_.u64());
      const CallSite site = call_site();
      begin_parallel(serial, team, site);
      break;
    }
    case HN_PARALLEL_END:
      in_.u64();
      end_parallel();
      begin_serial();
      break;
    case HN_RANK: {
      const std::uint64_t rank = in_.u64();
      if (in_parallel_ && rank >= ranks_.size())
        throw InputError("the capture stream goes on with rank " + std::to_string(rank) + " in a team of " + std::to_string(ranks_.size()));
      rank_ = static_cast<std::uint32_t>(rank);
      objects_.runs_rank(rank_);
      break;
    }
    case HN_LOOP_BEGIN: {
      const CallSite site = call_site();
      Phase phase;
      phase.kind = RegionKind::loop;
      phase.site = site;
      phase.low = in_.i64(), phase.high = in_.i64(), phase.step = in_.i64();
      phase.ordered = in_.u64() & HN_LOOP_ORDERED;
      phase.iterations = static_cast<std::int64_t>(in_.u64());
      enter(phase);
      break;
    }
    case HN_SECTIONS_BEGIN: {
      Phase phase;
      phase.kind = RegionKind::section;
      phase.site = call_site();
      phase.iterations = static_cast<std::int64_t>(in_.u64());
      enter(phase);
      break;
    }
    case HN_ITEM: {
      const auto iteration = static_cast<std::int64_t>(in_.u64());
      if (!in_parallel_) break;
      next_item(iteration);
      break;
    }
    case HN_LOOP_END: {
      const bool nowait = in_.u64();
      if (!in_parallel_) break;
      phases_[ranks_[rank_].phase].nowait = nowait;
      leave();
      if (!nowait) expect_barrier_.insert(rank_);
      break;
    }
    case HN_BARRIER:
      in_.u64();
      if (!in_parallel_) break;
      if (expect_barrier_.erase(rank_) != 0) break;  // the loop's own
      close_item(ranks_[rank_]);
      phases_[ranks_[rank_].phase].nowait = false;
      ranks_[rank_].phase += 1;
      code_phase();
      break;
    case HN_SINGLE: {
      Phase phase;
      phase.kind = RegionKind::single;
      phase.site = call_site();
      phase.iterations = 1;
      const bool taken = in_.u64();
      if (!in_parallel_) break;
      enter(phase);
      if (taken) {
        ranks_[rank_].iteration = 0;
        ranks_[rank_].in_item = true;
      } else {
        leave();
      }
      break;
    }
    case HN_SINGLE_END:
      if (in_parallel_) leave();
      break;
    case HN_SYNC: {
      SyncEvent event;
      event.sequence = current().accesses;
      event.operation = static_cast<SyncOperation>(in_.u64());
      event.object = in_.u64(), event.match = in_.u64();
      current().folder.sync_event(event);
      if (event.operation == SyncOperation::atomic_wait) (thread_ != 0 ? bodies_[thread_ - 1].spun : serial_spun_) = true;
      break;
    }
    case HN_THREAD_CREATE:
      create_thread();
      break;
    case HN_THREAD:
      run_thread(in_.u64());
      break;
    case HN_THREAD_END:
      end_thread(in_.u64());
      break;
    case HN_TASK_BEGIN: {
      const CallSite site = call_site();
      begin_task(site, in_.u64());
      break;
    }
    case HN_TASK_END:
      end_task();
      break;
    case HN_USER_RANK:
      if (in_parallel_) bound_ = true;
      break;
    case HN_MARK:
      mark();
      break;
    case HN_LOSS: {
      Loss loss;
      loss.count = in_.u64();
      loss.site = program_.site_id(call_site());
      loss.reason = in_.text();
      add_loss(loss);
      break;
    }
    case HN_END:
      result_.exit_status = static_cast<std::int64_t>(in_.u64());
      in_.u64();
      result_.complete = true;
      ended_ = true;
      break;
    default:
      throw InputError("the capture stream has a message of unknown kind " + std::to_string(opcode));
  }
}

// Losses of one place and reason are one, with their counts added.
void Assembler::add_loss(const Loss& loss) {
  for (Loss& known : losses_) {
    if (known.site == loss.site && known.reason == loss.reason) {
      known.count += loss.count;
      return;
    }
  }
  losses_.push_back(loss);
}

CallSite Assembler::call_site() {
  const std::uint64_t module = in_.u64();
  return {module, in_.u64()};
}

void Assembler::module() {
  const std::uint64_t id = in_.u64(), bias = in_.u64();
  objects_.add_variables(program_.add(id, in_.text()), bias);
}

void Assembler::run_message(bool same) {
  const std::uint64_t id = in_.u64();
  if (id >= pcs_.size()) throw InputError("the capture stream has a run of unknown site " + std::to_string(id));
  Pc& pc = pcs_[id];
  if (current().only_runs) pcs_of_item_.push_back(static_cast<std::uint32_t>(id));
  if (!same) pc.count = in_.u64();
  const std::uint64_t base = pc.previous + static_cast<std::uint64_t>(in_.i64());
  const std::uint64_t sequence = in_.u64();
  if (!same) {
    pc.stride = 0, pc.dsequence = 0;
    if (pc.count > 1) pc.stride = in_.i64(), pc.dsequence = in_.u64();
    pc.distance = in_.u64();
  }
  pc.previous = base;
  place(current(), pc, base, sequence, pc.count, pc.stride, pc.dsequence, pc.distance);
}

void Assembler::short_message(bool pair) {
  const std::uint8_t* const m = in_.bytes((pair ? HN_PAIR_BYTES : HN_ACCESS_BYTES) - 1);
  const auto little = [m](unsigned at, unsigned bytes) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) value |= std::uint64_t{m[at + i]} << (8 * i);
    return value;
  };
  const std::uint64_t id = little(0, 2);
  if (id >= pcs_.size()) throw InputError("the capture stream has a run of unknown site " + std::to_string(id));
  Pc& pc = pcs_[id];
  Rank& rank = current();
  if (rank.only_runs) pcs_of_item_.push_back(static_cast<std::uint32_t>(id));
  pc.previous += static_cast<std::uint64_t>(static_cast<std::int64_t>(little(6, 6) << 16) >> 16);
  if (pair) {
    pc.count = 2;
    pc.stride = static_cast<std::int32_t>(little(12, 4));
    pc.dsequence = little(16, 2);
    pc.distance = 0;
    place(rank, pc, pc.previous, little(2, 4), 2, pc.stride, pc.dsequence, 0);
  } else {
    place(rank, pc, pc.previous, little(2, 4), 1, 0, 0, little(12, 2));
  }
}

void Assembler::column() {
  const std::uint64_t id = in_.u64();
  if (id >= pcs_.size()) throw InputError("the capture stream has a column of unknown site " + std::to_string(id));
  Pc& pc = pcs_[id];
  const std::uint64_t n = in_.u64();
  std::uint64_t sequence = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    pc.previous += static_cast<std::uint64_t>(in_.i64());
    sequence += in_.u64();
    place(current(), pc, pc.previous, sequence, 1, 0, 0, in_.u64());
  }
}

// A run that walks over several objects is cut at their borders.
void Assembler::place(Rank& rank, Pc& pc, std::uint64_t base, std::uint64_t sequence, std::uint64_t count, std::int64_t stride,
                      std::uint64_t dsequence, std::uint64_t distance) {
  rank.accesses += count;
  result_.accesses += count;
  sequence -= rank.before;
  if (sequence == 0) rank.first_site = pc.site;
  if (thread_ != 0 && bodies_[thread_ - 1].own_site == SiteId{0}) note_own_site(pc.site);
  if (count <= 2 && !pc.bulk && (pc.kind != AccessKind::write || streamable_.empty())) {
    // One access, or two that the runtime joined: the folder takes them one by one.
    const auto site = static_cast<std::size_t>(&pc - pcs_.data());
    while (count > 0) {
      objects_.locate(pc.place, base);
      if (!rank.folder.add_single(site, pc.place.object, distance, static_cast<std::int64_t>(base - pc.place.low), sequence)) break;
      --count;
      base += static_cast<std::uint64_t>(stride);
      sequence += dsequence;
    }
  }
  while (count > 0) {
    objects_.locate(pc.place, base);
    std::uint64_t here = count;
    if (stride > 0) {
      here = std::min(count, (pc.place.high - 1 - base) / static_cast<std::uint64_t>(stride) + 1);
    } else if (stride < 0) {
      here = std::min(count, (base - pc.place.low) / (~static_cast<std::uint64_t>(stride) + 1) + 1);
    }
    here = std::min<std::uint64_t>(here, UINT32_MAX);
    PlacedRun placed;
    placed.object = pc.place.object;
    placed.run.width = pc.width;
    placed.run.kind = pc.kind;
    placed.run.bulk = pc.bulk;
    placed.run.site = pc.site;
    placed.run.producer_distance = static_cast<std::uint32_t>(std::min<std::uint64_t>(distance, UINT32_MAX));
    placed.run.offset = static_cast<std::int64_t>(base - pc.place.low);
    placed.run.sequence = sequence;
    placed.run.streamable = pc.kind == AccessKind::write && !streamable_.empty() && streamable_.contains(pc.place.object.value());
    if (here > 1) {
      placed.run.dimensions = 1;
      placed.run.dimension[0] = {static_cast<std::uint32_t>(here), stride, static_cast<std::uint32_t>(dsequence)};
    }
    rank.folder.add(static_cast<std::size_t>(&pc - pcs_.data()), placed);
    count -= here;
    base += here * static_cast<std::uint64_t>(stride);
    sequence += here * dsequence;
  }
}

void Assembler::allocate() {
  const std::uint64_t address = in_.u64(), bytes = in_.u64(), operation = in_.u64(), zeroed = in_.u64(), old = in_.u64(),
                      alignment = in_.u64();
  const ObjectKind kind = operation == HN_HEAP_MAP ? ObjectKind::mapped : ObjectKind::heap;
  const ObjectId object = objects_.allocate(kind, address, bytes, old, alignment, call_site());
  heap_event(current(), static_cast<HeapOperation>(operation), object, zeroed != 0);
}

void Assembler::release() {
  const std::uint64_t address = in_.u64(), operation = in_.u64();
  call_site();
  if (const std::optional<ObjectId> object = objects_.release(address))
    heap_event(current(), static_cast<HeapOperation>(operation), *object, false);
}

void Assembler::heap_event(Rank& rank, HeapOperation operation, ObjectId object, bool zeroed) {
  rank.folder.heap_event({rank.accesses, operation, 0, zeroed}, object);
}

void Assembler::hand_over_tables() {
  for (; sites_handed_over_ < program_.sites.size(); ++sites_handed_over_) writer_.add(program_.sites[sites_handed_over_]);
  for (; regions_handed_over_ < regions_.size(); ++regions_handed_over_) writer_.add(regions_[regions_handed_over_]);
  for (; objects_handed_over_ < objects_.objects.size(); ++objects_handed_over_) writer_.add(objects_.objects[objects_handed_over_]);
}

void Assembler::finish() {
  note_serial_work();
  for (const Mark& mark : marks_) writer_.add(mark);  // nothing came after them
  program_.look_up_lines();
  objects_.name_objects();
  for (Region& region : regions_) program_.note_clause(region);
  hand_over_tables();
  for (std::size_t i = 0; i < program_.sites.size(); ++i) writer_.update(SiteId{i}, program_.sites[i]);
  for (std::size_t i = 0; i < regions_.size(); ++i) writer_.update(RegionId{i}, regions_[i]);
  for (std::size_t i = 0; i < objects_.objects.size(); ++i) writer_.update(ObjectId{i}, objects_.objects[i]);
  for (const TracedThread& thread : threads_) writer_.add(thread);
  if (!options_.work.empty()) {
    const TwinWork::Rates rates = work_.rates(options_.work);
    for (const auto& [region, work] : rates.per_access) writer_.work_rate(region, {work, {}});
    losses_.insert(losses_.end(), rates.losses.begin(), rates.losses.end());
  }
  for (const Loss& loss : program_.losses) writer_.add(loss);
  for (const Loss& loss : losses_) writer_.add(loss);
  TraceMeta meta;
  meta.tool = "homenode";
  meta.compiler = "gcc -fsanitize=thread (homenode cc)";
  meta.program = program_name_;
  meta.arguments = arguments_;
  meta.capture_threads = team_;
  meta.page_size = page_size_;
  writer_.meta(meta);
  result_.content_hash = writer_.finish(result_.complete);
}

AssembleResult assemble(int descriptor, const AssembleOptions& options) { return Assembler{descriptor, options}.run(); }

}  // namespace homenode
