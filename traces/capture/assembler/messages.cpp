// The messages of the stream, each with the function that takes it: stream.h says what their fields are.
#include <algorithm>
#include <array>

#include "sim/base/errors.hpp"
#include "traces/capture/assembler/names.hpp"
#include "traces/capture/assembler/state.hpp"

extern "C" {
#include "traces/capture/runtime/stream.h"
}

namespace homenode {

namespace {
constexpr std::size_t most_zero_fills = 16;  // looked for at the same time
}

void Assembler::take_message(std::uint8_t opcode) {
  struct Message {
    void (Assembler::*take)() = nullptr;
    bool is_construct = false;   // no task may run when it comes
    bool is_repeatable = false;  // an iteration of such messages alone may repeat the one before it (repetition.cpp)
    bool ends_zero_fills = true;
  };
  static constexpr auto messages = [] {
    std::array<Message, HN_MAY_CUT + 1> table{};
    table[HN_HELLO] = {.take = &Assembler::take_hello};
    table[HN_MODULE] = {.take = &Assembler::take_module, .ends_zero_fills = false};
    table[HN_PC] = {.take = &Assembler::take_pc, .is_repeatable = true, .ends_zero_fills = false};
    table[HN_RUN] = {.take = &Assembler::take_new_run, .is_repeatable = true, .ends_zero_fills = false};
    table[HN_RUN_SAME] = {.take = &Assembler::take_same_run, .is_repeatable = true, .ends_zero_fills = false};
    table[HN_COLUMN] = {.take = &Assembler::take_column, .ends_zero_fills = false};
    table[HN_ALLOCATE] = {.take = &Assembler::take_allocate, .ends_zero_fills = false};
    table[HN_RELEASE] = {.take = &Assembler::take_release, .ends_zero_fills = false};
    table[HN_FRAME] = {.take = &Assembler::take_frame, .ends_zero_fills = false};
    table[HN_TLS] = {.take = &Assembler::take_tls};
    table[HN_STACK] = {.take = &Assembler::take_stack};
    table[HN_PARALLEL_BEGIN] = {.take = &Assembler::take_parallel_begin, .is_construct = true};
    table[HN_PARALLEL_END] = {.take = &Assembler::take_parallel_end, .is_construct = true};
    table[HN_RANK] = {.take = &Assembler::take_rank};
    table[HN_LOOP_BEGIN] = {.take = &Assembler::take_loop_begin, .is_construct = true};
    table[HN_ITEM] = {.take = &Assembler::take_item, .is_construct = true, .is_repeatable = true};
    table[HN_LOOP_END] = {.take = &Assembler::take_loop_end, .is_construct = true};
    table[HN_BARRIER] = {.take = &Assembler::take_barrier, .is_construct = true};
    table[HN_SECTIONS_BEGIN] = {.take = &Assembler::take_sections_begin, .is_construct = true};
    table[HN_SINGLE] = {.take = &Assembler::take_single, .is_construct = true};
    table[HN_SINGLE_END] = {.take = &Assembler::take_single_end, .is_construct = true};
    table[HN_SYNC] = {.take = &Assembler::take_sync};
    table[HN_USER_RANK] = {.take = &Assembler::take_user_rank};
    table[HN_MARK] = {.take = &Assembler::take_mark};
    table[HN_LOSS] = {.take = &Assembler::take_loss};
    table[HN_END] = {.take = &Assembler::take_end};
    table[HN_THREAD_CREATE] = {.take = &Assembler::take_thread_create};
    table[HN_THREAD] = {.take = &Assembler::take_thread};
    table[HN_THREAD_END] = {.take = &Assembler::take_thread_end};
    table[HN_TASK_BEGIN] = {.take = &Assembler::take_task_begin};
    table[HN_TASK_END] = {.take = &Assembler::take_task_end};
    table[HN_LEAVING] = {.take = &Assembler::take_leaving};
    table[HN_MAY_CUT] = {.take = &Assembler::take_may_cut};
    return table;
  }();
  const Message message = opcode < messages.size() ? messages[opcode] : Message{};
  if (message.ends_zero_fills) end_zero_fills();
  if (!message.is_repeatable) current().only_runs = false;
  if (in_parallel_ && thread_ == 0 && task_stacks_[rank_].open > 0 && message.is_construct)
    throw InputError("the capture stream has a construct inside a task of its own team; allowed: those of an inner team");
  if (message.take == nullptr) throw InputError("the capture stream has a message of unknown kind " + std::to_string(opcode));
  (this->*message.take)();
}

CallSite Assembler::read_site() {
  const std::uint64_t module = in_.u64();
  return {module, in_.u64()};
}

void Assembler::take_hello() {
  const std::uint64_t version = in_.u64();
  if (version != HN_STREAM_VERSION)
    throw InputError("the capture stream is of version " + std::to_string(version) + "; allowed: " + std::to_string(HN_STREAM_VERSION) +
                     " (recompile the program with this homenode)");
  result_.has_begun = true;
  page_size_ = in_.u64();
  objects_.set_page_size(page_size_);
  team_ = static_cast<std::uint32_t>(in_.u64());
  const std::uint64_t low = in_.u64(), high = in_.u64();
  objects_.add_stack(low, high);
  for (std::uint32_t r = 0; r < team_; ++r)
    threads_.push_back({r == 0 ? ThreadId::none() : ThreadId{0}, r == 0 ? "main" : "team", static_cast<std::int32_t>(r)});
}

void Assembler::take_module() {
  const std::uint64_t id = in_.u64(), bias = in_.u64();
  objects_.add_variables(program_.add(id, in_.text()), bias);
}

void Assembler::take_pc() {
  const std::uint64_t id = in_.u64();
  if (id != pcs_.size()) throw InputError("the capture stream defines access site " + std::to_string(id) + " out of order");
  Pc pc;
  pc.kind = static_cast<AccessKind>(in_.u64() & 3);
  pc.width = static_cast<std::uint16_t>(in_.u64());
  pc.bulk = in_.u64() & HN_FLAG_BULK;
  pc.site = program_.site_id(read_site());
  pcs_.push_back(pc);
}

void Assembler::take_frame() {
  const auto rank = static_cast<std::uint32_t>(in_.u64());
  const std::uint64_t low = in_.u64(), high = in_.u64();
  objects_.add_frame(rank, low, high, read_site(), in_parallel_);
}

void Assembler::take_tls() {
  const auto rank = static_cast<std::uint32_t>(in_.u64());
  const std::uint64_t low = in_.u64(), high = in_.u64();
  objects_.add_thread_local_block(rank, low, high);
}

void Assembler::take_stack() {
  in_.u64();  // rank
  const std::uint64_t low = in_.u64(), high = in_.u64();
  objects_.add_stack(low, high);
}

void Assembler::take_allocate() {
  const std::uint64_t address = in_.u64(), bytes = in_.u64(), operation = in_.u64(), zeroed = in_.u64(), old = in_.u64(),
                      alignment = in_.u64();
  end_zero_fills([&](const ZeroFill& fill) { return fill.has_begun() || fill.address() == old; });  // all of a fill would be there
  const ObjectKind kind = operation == HN_HEAP_MAP ? ObjectKind::mapped : ObjectKind::heap;
  const CallSite site = read_site();
  const ObjectId object = objects_.allocate(kind, address, bytes, old, alignment, site);
  begin_with_call(site);
  add_heap_event(current(), static_cast<HeapOperation>(operation), object, zeroed != 0);
  if (zeroed == 0 && operation == HN_HEAP_ALLOCATE && bytes >= HN_MAPPED_FROM && zero_fills_.size() < most_zero_fills &&
      program_.calls_calloc(site))
    zero_fills_.emplace_back(address, bytes, current().before + current().accesses, current().folder.heap_events() - 1);
}

void Assembler::take_release() {
  const std::uint64_t address = in_.u64(), operation = in_.u64();
  end_zero_fills([&](const ZeroFill& fill) { return fill.has_begun() || fill.address() == address; });
  begin_with_call(read_site());
  if (const std::optional<ObjectId> object = objects_.release(address))
    add_heap_event(current(), static_cast<HeapOperation>(operation), *object, false);
}

// Serial code that accesses nothing is told by its first heap call.
void Assembler::begin_with_call(const CallSite& site) {
  Rank& rank = current();
  if (&rank == &serial_ && rank.first_site == SiteId{0}) rank.first_site = program_.site_id(site);
}

void Assembler::add_heap_event(Rank& rank, HeapOperation operation, ObjectId object, bool zeroed) {
  rank.folder.add_heap_event({rank.accesses, operation, 0, zeroed}, object);
}

void Assembler::take_parallel_begin() {
  const std::uint64_t serial = in_.u64();
  const auto team = static_cast<std::uint32_t>(in_.u64());
  const CallSite call = read_site();
  program_.note_body(call, read_site());
  begin_parallel(serial, team, call);
}

void Assembler::take_parallel_end() {
  in_.u64();  // serial number
  end_parallel();
  begin_serial();
}

void Assembler::take_rank() {
  const std::uint64_t rank = in_.u64();
  if (in_parallel_ && rank >= ranks_.size())
    throw InputError("the capture stream goes on with rank " + std::to_string(rank) + " in a team of " + std::to_string(ranks_.size()));
  rank_ = static_cast<std::uint32_t>(rank);
  objects_.set_rank(rank_);
}

void Assembler::take_loop_begin() {
  Phase phase;
  phase.kind = RegionKind::loop;
  phase.site = read_site();
  phase.low = in_.i64(), phase.high = in_.i64(), phase.step = in_.i64();
  phase.ordered = in_.u64() & HN_LOOP_ORDERED;
  phase.iterations = static_cast<std::int64_t>(in_.u64());
  enter(phase);
}

void Assembler::take_sections_begin() {
  Phase phase;
  phase.kind = RegionKind::section;
  phase.site = read_site();
  phase.iterations = static_cast<std::int64_t>(in_.u64());
  enter(phase);
}

void Assembler::take_item() {
  const auto iteration = static_cast<std::int64_t>(in_.u64());
  if (in_parallel_) next_item(iteration);
}

void Assembler::take_loop_end() {
  const bool nowait = in_.u64();
  if (!in_parallel_) return;
  phases_[ranks_[rank_].phase].nowait = nowait;
  leave();
  if (!nowait) expect_barrier_.insert(rank_);
}

void Assembler::take_barrier() {
  const CallSite site = read_site();
  if (!in_parallel_) return;
  if (expect_barrier_.erase(rank_) != 0) return;  // the loop's own
  close_item(ranks_[rank_]);
  phases_[ranks_[rank_].phase].nowait = false;
  ranks_[rank_].phase += 1;
  enter_code(site);
}

void Assembler::take_single() {
  Phase phase;
  phase.kind = RegionKind::single;
  phase.site = read_site();
  phase.iterations = 1;
  const bool taken = in_.u64();
  if (!in_parallel_) return;
  enter(phase);
  if (taken) {
    ranks_[rank_].iteration = 0;
    ranks_[rank_].in_item = true;
  } else {
    leave();
  }
}

void Assembler::take_single_end() {
  if (in_parallel_) leave();
}

void Assembler::take_sync() {
  SyncEvent event;
  event.sequence = current().accesses;
  event.operation = static_cast<SyncOperation>(in_.u64());
  event.object = in_.u64(), event.match = in_.u64();
  current().folder.add_sync_event(event);
  if (event.operation == SyncOperation::atomic_wait) (thread_ != 0 ? bodies_[thread_ - 1].spun : serial_spun_) = true;
}

void Assembler::take_thread() { run_thread(in_.u64()); }

void Assembler::take_thread_end() { end_thread(in_.u64()); }

void Assembler::take_task_begin() {
  const CallSite site = read_site();
  begin_task(site, in_.u64());
}

void Assembler::take_user_rank() {
  if (in_parallel_) asked_from_ = std::min(asked_from_, ranks_[rank_].phase);
}

void Assembler::take_loss() {
  Loss loss;
  loss.count = in_.u64();
  loss.site = program_.site_id(read_site());
  loss.reason = as_utf8(in_.text());
  add_loss(loss);
}

void Assembler::take_leaving() { leaving_ = as_utf8(in_.text()); }

void Assembler::take_end() {
  result_.exit_status = static_cast<std::int64_t>(in_.u64());
  in_.u64();  // accesses
  result_.complete = true;
  ended_ = true;
}

}  // namespace homenode
