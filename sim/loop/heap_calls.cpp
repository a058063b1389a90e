#include "sim/loop/heap_calls.hpp"

#include <algorithm>
#include <utility>

#include "sim/machine/machine.hpp"
#include "sim/machine/transfer_latency.hpp"

namespace homenode {

HeapCalls::HeapCalls(HeapManager* heap, const Workload& workload, AddressSpace& addresses, MemoryModel& memory, std::uint64_t seed,
                     const Costs& costs)
    : heap_{heap != nullptr ? *heap : packed_},
      workload_{workload},
      addresses_{addresses},
      memory_{memory},
      seed_{seed},
      costs_{costs},
      random_{seed} {}

void HeapCalls::prepare(const Machine& machine, const std::vector<CoreId>& core_of_thread) {
  calls_.resize(core_of_thread.size());
  for (const CoreId core : core_of_thread) node_of_thread_.push_back(machine.node_of(core));
  for (std::size_t o = 0; o < workload_.objects.size(); ++o) {
    const TracedObject& object = workload_.objects[o];
    if (object.kind == ObjectKind::heap && !object.thread_private && addresses_.placed(ObjectId{o})) placed_before_[ObjectId{o}] = {};
  }
  spin_.wakeup = costs_.wakeup;
  spin_.way = [this, &machine](CoreId from, CoreId to) {
    if (!topology_) topology_.emplace(machine);
    return transfer_latency(machine, *topology_, from, to);
  };
  heap_.prepare({workload_, machine, addresses_, core_of_thread, seed_});
}

Address HeapCalls::heap_address(ObjectId object, ThreadId thread) {
  const auto before = placed_before_.find(object);
  return before != placed_before_.end() ? before->second : addresses_.address(object, thread);
}

AllocationRequest HeapCalls::request(ObjectId id) const {
  const TracedObject& object = workload_.objects[id.index()];
  return {id, std::max<std::uint64_t>(object.bytes, 1), std::max<std::uint64_t>(object.alignment, 1), object.site, object.owner_hint};
}

bool HeapCalls::begin(const Place& place, HeapOperation operation, ObjectId object, std::vector<Wake>& wakes) {
  Call& call = calls_.at(place.thread.index());
  call.place = place;
  addresses_.runs_on(place.core);
  const bool allocates = operation == HeapOperation::allocate || operation == HeapOperation::reallocate;
  const auto before = placed_before_.find(object);
  const bool not_asked = before != placed_before_.end() && before->second == Address{};
  if (allocates && (not_asked || !addresses_.placed(object, place.thread))) call.steps.push_back({true, object});
  if (operation == HeapOperation::map) addresses_.place_object(object, place.thread);
  ObjectId old = operation == HeapOperation::release || operation == HeapOperation::unmap ? object : ObjectId::none();
  if (operation == HeapOperation::reallocate && workload_.objects[object.index()].reallocated_from != object)
    old = workload_.objects[object.index()].reallocated_from;
  if (!old.is_none() && addresses_.placed(old, place.thread)) {
    if (blocks_.contains(heap_address(old, place.thread))) {
      call.steps.push_back({false, old});
    } else if (addresses_.placed(old)) {
      drop(addresses_.release_object(old));
    }
  }
  return next_step(call, place.now, wakes);
}

// Starts the first step that is left; true if none is left, or none takes time.
bool HeapCalls::next_step(Call& call, Time now, std::vector<Wake>& wakes) {
  while (!call.steps.empty()) {
    const Step& step = call.steps.front();
    call.place.now = now;
    const HeapLock lock = step.allocates ? heap_.lock_to_allocate(request(step.object), call.place)
                                         : heap_.lock_to_release(heap_address(step.object, call.place.thread), call.place);
    call.lock = lock.id;
    if (!lock.id.is_none()) {
      call.came = now;
      if (locks_.try_emplace(lock.id, lock.fair, lock.spins).first->second.ask(call.place)) {
        hold(call, now, wakes);
      } else {
        call.phase = Phase::waiting;
      }
      return false;
    }
    if (without_lock(call, now, wakes)) return false;
    call.steps.pop_front();
  }
  call.phase = Phase::none;
  return true;
}

void HeapCalls::hold(Call& call, Time now, std::vector<Wake>& wakes) {
  report_.lock_wait += now - call.came;
  const Spent spent = perform(call, now);
  call.phase = Phase::holding;
  call.change = spent.change;
  call.cost = spent.cost;
  wakes.push_back({call.place.thread, now + spent.held});
}

// True if the step takes time.
bool HeapCalls::without_lock(Call& call, Time now, std::vector<Wake>& wakes) {
  const Spent spent = perform(call, now);
  call.change = spent.change;
  call.cost = spent.cost;
  if (spent.change > Time{}) {
    call.phase = Phase::holding;
    wakes.push_back({call.place.thread, now + spent.held});
    return true;
  }
  call.cost += spent.held;
  return pay(call, now, wakes);
}

void HeapCalls::change_map(Call& call, Time now, std::vector<Wake>& wakes) {
  call.came = call.place.now = now;
  if (map_.ask(call.place)) {
    hold_map(call, now, wakes);
  } else {
    call.phase = Phase::waits_for_map;
  }
}

void HeapCalls::hold_map(Call& call, Time now, std::vector<Wake>& wakes) {
  const Time waits = costs_.mapping.excludes_faults == 0 ? Time{} : memory_.hold_back_faults(now, call.change);
  report_.lock_wait += now - call.came + waits;
  call.phase = Phase::changing_map;
  wakes.push_back({call.place.thread, now + waits + call.change});
  call.change = {};
}

void HeapCalls::give_up_map(Time now, std::vector<Wake>& wakes) {
  if (const auto next = map_.pass_on()) hold_map(calls_[next->index()], now, wakes);
}

void HeapCalls::give_up(const Call& call, Time now, std::vector<Wake>& wakes) {
  if (call.lock.is_none()) return;
  CallLock& lock = locks_.at(call.lock);
  if (!lock.fair()) {
    Place place = call.place;
    place.now = now;
    for (const CallLock::Look& look : lock.give_up(place, spin_, random_)) wakes.push_back(look);
  } else if (const auto next = lock.pass_on()) {
    hold(calls_[next->index()], now, wakes);
  }
}

// True if there is something to pay.
bool HeapCalls::pay(Call& call, Time now, std::vector<Wake>& wakes) {
  if (call.cost <= Time{}) return false;
  call.phase = Phase::paying;
  wakes.push_back({call.place.thread, now + call.cost});
  return true;
}

bool HeapCalls::resume(const Place& place, std::vector<Wake>& wakes) {
  Call& call = calls_.at(place.thread.index());
  call.place = place;
  if (call.phase == Phase::waiting) {
    if (locks_.at(call.lock).look(place)) hold(call, place.now, wakes);
    return false;
  }
  if (call.phase == Phase::holding && call.change > Time{}) {
    change_map(call, place.now, wakes);
    return false;
  }
  if (call.phase == Phase::changing_map) give_up_map(place.now, wakes);
  if (call.phase != Phase::paying) {
    give_up(call, place.now, wakes);
    if (pay(call, place.now, wakes)) return false;
  }
  call.steps.pop_front();
  return next_step(call, place.now, wakes);
}

HeapCalls::Spent HeapCalls::perform(const Call& call, Time now) {
  Place place = call.place;
  place.now = now;
  std::uint64_t elsewhere = 0;
  const HeapEffect effect = call.steps.front().allocates ? allocate(call, place) : release(call, place, elsewhere);
  Spent spent{effect.held, costs_.mapping.call * static_cast<std::int64_t>(effect.map_changes), effect.cost};
  apply(effect.operations, elsewhere, spent);
  if (call.steps.front().allocates) bind(call, place, effect.range);
  for (const AddressRange& range : effect.written) spent.held += write(range, effect.range, place);
  report_.reserved_bytes = std::max(report_.reserved_bytes, heap_.reserved_bytes());
  report_.requested_peak_bytes = std::max(report_.requested_peak_bytes, requested_);
  return spent;
}

// The thread writes a header beside `block`. A page that both lie on is the block's: placements go by objects.
Time HeapCalls::write(AddressRange header, AddressRange block, const Place& place) {
  if (addresses_.page_of(header.last - 1) == addresses_.page_of(block.first)) header.last = std::max(header.last, block.first + 1);
  if (addresses_.page_of(header.first) == addresses_.page_of(block.last - 1)) header.first = std::min(header.first, block.last - 1);
  const std::uint64_t faults = addresses_.touch(header, true, place);
  return faults == 0 ? Time{} : memory_.faults_in_call(place, faults, addresses_);
}

HeapEffect HeapCalls::allocate(const Call& call, const Place& place) {
  requested_ += request(call.steps.front().object).bytes;
  return heap_.allocate(request(call.steps.front().object), place);
}

void HeapCalls::bind(const Call& call, const Place& place, AddressRange block) {
  const ObjectId object = call.steps.front().object;
  const std::int32_t hint = request(object).owner_hint;
  const auto owner = static_cast<std::size_t>(hint);
  const bool marked = hint >= 0 && owner < node_of_thread_.size();
  const auto before = placed_before_.find(object);
  if (before != placed_before_.end() && block.first != addresses_.base_of(object)) {
    before->second = block.first;
  } else {
    placed_before_.erase(object);
    addresses_.bind_object(object, place.thread, block, marked ? node_of_thread_[owner] : place.node);
  }
  blocks_.insert(block.first);
}

void HeapCalls::drop(const AddressSpace::Released& released) {
  memory_.drop(released.range, true);
  if (released.pages.first != released.pages.last) memory_.give_back(released.pages);
}

HeapEffect HeapCalls::release(const Call& call, const Place& place, std::uint64_t& elsewhere) {
  const ObjectId object = call.steps.front().object;
  const Address address = heap_address(object, place.thread);
  report_.remote_block_pages += addresses_.remote_pages_of(object, place.thread);
  HeapEffect effect = heap_.release(object, address, place);
  if (placed_before_.erase(object) > 0) {
    const AddressSpace::Released released = addresses_.release_object(object);
    drop(released);
    elsewhere = released.given_back;
  }
  if (addresses_.placed(object, place.thread)) addresses_.unbind_object(object, place.thread);
  blocks_.erase(address);
  requested_ -= request(object).bytes;
  return effect;
}

void HeapCalls::apply(const std::vector<PageOperation>& operations, std::uint64_t elsewhere, Spent& spent) {
  const MappingCost& cost = costs_.mapping;
  for (const PageOperation& operation : operations) {
    memory_.drop(operation.range, true);
    if (operation.kind == PageOperation::Kind::forget) continue;
    const bool unmaps = operation.kind == PageOperation::Kind::unmap;
    const std::uint64_t own = unmaps ? addresses_.unmap(operation.range) : addresses_.discard(operation.range);
    memory_.give_back(operation.range);
    const std::uint64_t pages = own + std::exchange(elsewhere, 0);
    const Time release = cost.release(pages, addresses_.cores_run());
    const bool changes = operation.kind != PageOperation::Kind::discard;
    (changes ? spent.change : spent.held) += cost.call;
    (changes && cost.releases_exclusively != 0 ? spent.change : spent.held) += release;
  }
}

HeapReport HeapCalls::report() const {
  HeapReport report = report_;
  report.mixed_owner_pages = addresses_.mixed_owner_pages();
  return report;
}

}  // namespace homenode
