#include "sim/loop/heap_calls.hpp"

#include <algorithm>

#include "sim/machine/machine.hpp"

namespace homenode {

HeapCalls::HeapCalls(HeapManager* heap, const Workload& workload, AddressSpace& addresses, MemoryModel& memory, std::uint64_t seed)
    : heap_{heap != nullptr ? *heap : packed_}, workload_{workload}, addresses_{addresses}, memory_{memory}, seed_{seed}, random_{seed} {}

void HeapCalls::prepare(const Machine& machine, const std::vector<CoreId>& core_of_thread) {
  calls_.resize(core_of_thread.size());
  for (const CoreId core : core_of_thread) node_of_thread_.push_back(machine.node_of(core));
  for (std::size_t o = 0; o < workload_.objects.size(); ++o) {
    const TracedObject& object = workload_.objects[o];
    if (object.kind == ObjectKind::heap && !object.thread_private && addresses_.placed(ObjectId{o})) placed_before_[ObjectId{o}] = {};
  }
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
      memory_.drop(addresses_.release_object(old), true);
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
      Lock& state = locks_[lock.id];
      state.fair = lock.fair;
      call.came = now;
      if (state.held) {
        call.phase = Phase::waiting;
        state.queue.push_back(call.place.thread);
      } else {
        state.held = true;
        hold(call, now, wakes);
      }
      return false;
    }
    const HeapEffect effect = perform(call, now);
    if (effect.held + effect.cost > Time{}) {
      call.phase = Phase::paying;
      wakes.push_back({call.place.thread, now + effect.held + effect.cost});
      return false;
    }
    call.steps.pop_front();
  }
  call.phase = Phase::none;
  return true;
}

void HeapCalls::hold(Call& call, Time now, std::vector<Wake>& wakes) {
  report_.lock_wait += now - call.came;
  const HeapEffect effect = perform(call, now);
  call.phase = Phase::holding;
  call.cost = effect.cost;
  wakes.push_back({call.place.thread, now + effect.held});
}

bool HeapCalls::resume(const Place& place, std::vector<Wake>& wakes) {
  Call& call = calls_.at(place.thread.index());
  if (call.phase == Phase::holding) {
    Lock& lock = locks_.at(call.lock);
    lock.held = !lock.queue.empty();
    if (lock.held) {
      const std::size_t next = lock.fair ? 0 : static_cast<std::size_t>(random_() % lock.queue.size());
      Call& other = calls_[lock.queue[next].index()];
      lock.queue.erase(lock.queue.begin() + static_cast<std::ptrdiff_t>(next));
      hold(other, place.now, wakes);
    }
    if (call.cost > Time{}) {
      call.phase = Phase::paying;
      wakes.push_back({place.thread, place.now + call.cost});
      return false;
    }
  }
  call.steps.pop_front();
  return next_step(call, place.now, wakes);
}

HeapEffect HeapCalls::perform(const Call& call, Time now) {
  const Step& step = call.steps.front();
  Place place = call.place;
  place.now = now;
  const AllocationRequest asked = request(step.object);
  HeapEffect effect;
  if (step.allocates) {
    effect = heap_.allocate(asked, place);
    const auto owner = static_cast<std::size_t>(asked.owner_hint);
    const bool marked = asked.owner_hint >= 0 && owner < node_of_thread_.size();
    apply(effect.operations);
    const auto before = placed_before_.find(step.object);
    if (before != placed_before_.end() && effect.range.first != addresses_.base_of(step.object)) {
      before->second = effect.range.first;
    } else {
      placed_before_.erase(step.object);
      addresses_.bind_object(step.object, place.thread, effect.range, marked ? node_of_thread_[owner] : place.node);
    }
    blocks_.insert(effect.range.first);
    requested_ += asked.bytes;
  } else {
    const Address address = heap_address(step.object, place.thread);
    report_.remote_block_pages += addresses_.remote_pages_of(step.object, place.thread);
    effect = heap_.release(step.object, address, place);
    if (placed_before_.erase(step.object) > 0) memory_.drop(addresses_.release_object(step.object), true);
    if (addresses_.placed(step.object, place.thread)) addresses_.unbind_object(step.object, place.thread);
    apply(effect.operations);
    blocks_.erase(address);
    requested_ -= asked.bytes;
  }
  report_.reserved_bytes = std::max(report_.reserved_bytes, heap_.reserved_bytes());
  report_.requested_peak_bytes = std::max(report_.requested_peak_bytes, requested_);
  return effect;
}

void HeapCalls::apply(const std::vector<PageOperation>& operations) {
  for (const PageOperation& operation : operations) {
    memory_.drop(operation.range, true);
    if (operation.kind == PageOperation::Kind::discard) addresses_.discard(operation.range);
    if (operation.kind == PageOperation::Kind::unmap) addresses_.unmap(operation.range);
  }
}

HeapReport HeapCalls::report() const {
  HeapReport report = report_;
  report.mixed_owner_pages = addresses_.mixed_owner_pages();
  return report;
}

}  // namespace homenode
