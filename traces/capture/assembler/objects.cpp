#include "traces/capture/assembler/objects.hpp"

#include <algorithm>

extern "C" {
#include "traces/capture/runtime/stream.h"
}

namespace homenode {

ObjectId ObjectMap::add(ObjectKind kind, std::uint64_t bytes, std::string symbol, SiteId site, std::int32_t owner, bool is_private) {
  TracedObject object;
  object.kind = kind;
  object.bytes = bytes;
  object.symbol = std::move(symbol);
  object.site = site;
  object.owner_hint = owner;
  object.thread_private = is_private;
  object.alignment = 16;
  objects.push_back(object);
  return ObjectId{objects.size() - 1};
}

void ObjectMap::add_variables(const ModuleSymbols& module, std::uint64_t bias) {
  for (const Variable& variable : module.variables()) {
    if (variable.thread_local_storage) continue;
    live_.try_emplace(bias + variable.address, Live{bias + variable.address + variable.bytes, ObjectId::none(), &variable, false, 0});
  }
}

// Stacks of threads that have ended are used again.
void ObjectMap::add_stack(std::uint64_t low, std::uint64_t high, std::uint32_t thread) {
  ++epoch_;
  for (auto it = stacks_.begin(); it != stacks_.end();) it = it->first < high && low < it->second.high ? stacks_.erase(it) : std::next(it);
  for (auto it = live_.lower_bound(low); it != live_.end() && it->first < high;) it = erase(it);
  stacks_[low] = {high, ObjectId::none(), thread};
}

void ObjectMap::share(ObjectId object, std::uint32_t thread) {
  if (thread != 0 && thread != running_) objects[object.index()].thread_private = false;
}

void ObjectMap::replace(std::uint64_t low, std::uint64_t high, ObjectId object, bool is_frame, std::uint32_t thread) {
  ++epoch_;
  for (auto it = live_.lower_bound(low); it != live_.end() && it->first < high;) it = erase(it);
  auto before = live_.lower_bound(low);
  if (before != live_.begin() && std::prev(before)->second.frame && std::prev(before)->second.high > low) erase(std::prev(before));
  live_[low] = {high, object, nullptr, is_frame, thread};
}

void ObjectMap::add_thread_local_block(std::uint32_t rank, std::uint64_t low, std::uint64_t high) {
  const std::uint32_t thread = rank > HN_FIRST_CREATED ? rank - HN_FIRST_CREATED : 0;
  const std::int32_t owner = rank == 0 ? -1 : static_cast<std::int32_t>(thread != 0 ? thread : rank);
  replace(low, high, add(ObjectKind::thread_local_storage, high - low, "thread-local storage", SiteId{0}, owner, true), false, thread);
}

void ObjectMap::add_frame(std::uint32_t rank, std::uint64_t low, std::uint64_t high, const CallSite& site, bool in_parallel) {
  const std::string function = site.module == 0 && site.offset == 0 ? "arguments" : program_.function_of(site);
  // A frame of the team's own code (the outlined body and what it calls) is each thread's; those above it are shared.
  if (function.find("._omp_fn.") != std::string::npos) team_frame_[rank] = std::max(team_frame_[rank], high);
  const std::uint32_t thread = rank > HN_FIRST_CREATED ? rank - HN_FIRST_CREATED : 0;
  const bool is_team_code = in_parallel && (rank != 0 || high <= team_frame_[rank]);
  const bool shared_with_task = thread == 0 && is_team_code && shared_with_tasks_.contains({function, high - low});
  const bool is_private = thread != 0 || (is_team_code && !shared_with_task);
  const bool by_place = thread != 0 || !is_private;
  const Frame key{.function = function,
                  .bytes = high - low,
                  .is_private = is_private,
                  .rank = by_place ? rank : 0u,
                  .low = by_place ? low : 0u,
                  .task = shared_with_task ? task_of(rank, low) : 0u};
  auto [known, fresh] = frames_.try_emplace(key, ObjectId::none());
  if (fresh) known->second = add(ObjectKind::stack, high - low, function, program_.site_id(site), -1, is_private);
  replace(low, high, known->second, true, thread);
  live_[low].rank = rank;
}

ObjectMap::LiveObjects::iterator ObjectMap::erase(LiveObjects::iterator object) {
  forget(object->first, object->second.high);
  return live_.erase(object);
}

bool ObjectMap::recall(Place& place, std::uint64_t address, std::uint64_t key) {
  const Known& entry = known(key);
  if (entry.key != key || address < entry.low || address >= entry.high) return false;
  place.low = entry.low, place.high = entry.high, place.object = entry.object;
  return true;
}

void ObjectMap::forget(std::uint64_t low, std::uint64_t high) {
  if (high <= low) return;
  if ((high - low) / large >= known_entries) {
    std::fill(known_.begin(), known_.end(), Known{});
    return;
  }
  const bool by_page = high - low >= large;
  const std::uint64_t first = by_page ? page_key(low) : line_key(low), last = by_page ? page_key(high - 1) : line_key(high - 1);
  for (std::uint64_t key = first; key <= last; key += 2) {
    if (known(key).key == key) known(key) = {};
  }
}

void ObjectMap::find(Place& place, std::uint64_t address) {
  place.epoch = epoch_;
  if (!recall(place, address, page_key(address)) && !recall(place, address, line_key(address))) look_up(place, address);
}

void ObjectMap::look_up(Place& place, std::uint64_t address) {
  auto found = live_.upper_bound(address);
  if (found != live_.begin()) {
    --found;
    if (address < found->second.high) {
      Live& object = found->second;
      if (object.variable != nullptr) {
        object.object = add(ObjectKind::global, object.variable->bytes, object.variable->name, SiteId{0});
        object.variable = nullptr;
      }
      share(object.object, object.thread);
      share_with_task(object.object, address, object.frame ? &object : nullptr, found->first);
      place.low = found->first, place.high = object.high, place.object = object.object;
      if (!object.frame && object.thread == 0) {
        const std::uint64_t key = place.high - place.low >= large ? page_key(address) : line_key(address);
        known(key) = {key, place.low, place.high, place.object};
      }
      return;
    }
  }
  auto stack = stacks_.upper_bound(address);
  if (stack != stacks_.begin() && address < std::prev(stack)->second.high) {
    auto& entry = std::prev(stack)->second;
    if (entry.object.is_none()) entry.object = add(ObjectKind::stack, entry.high - std::prev(stack)->first, "stack", SiteId{0}, -1, true);
    share(entry.object, entry.thread);
    share_with_task(entry.object, address, nullptr, 0);
    place.low = std::prev(stack)->first, place.high = entry.high, place.object = entry.object;
    return;
  }
  // Nobody announced it: one object of a page run, so that nothing is lost.
  const std::uint64_t page = page_size_, low = address / page * page;
  const ObjectId unknown = add(ObjectKind::unknown, page, "unknown", SiteId{0});
  if (const auto covered = live_.find(low); covered != live_.end()) erase(covered);
  live_[low] = {low + page, unknown, nullptr, false, 0};
  place.low = low, place.high = low + page, place.object = unknown;
}

ObjectId ObjectMap::object_at(std::uint64_t address) {
  Place place;
  find(place, address);
  return place.object;
}

ObjectId ObjectMap::allocate(ObjectKind kind, std::uint64_t address, std::uint64_t bytes, std::uint64_t old, std::uint64_t alignment,
                             const CallSite& site) {
  ObjectId previous = ObjectId::none();
  if (old != 0) {
    const auto found = live_.find(old);
    if (found != live_.end()) previous = found->second.object, erase(found);
  }
  const ObjectId object = add(kind, bytes, "", program_.site_id(site));
  objects.back().alignment = std::max<std::uint64_t>(alignment, 1);
  objects.back().reallocated_from = previous;
  named_by_site_.push_back(object);
  if (bytes > 0) replace(address, address + bytes, object);
  return object;
}

std::optional<ObjectId> ObjectMap::release(std::uint64_t address) {
  const auto found = live_.find(address);
  if (found == live_.end()) return std::nullopt;
  const ObjectId object = found->second.object;
  erase(found);
  ++epoch_;
  return object;
}

void ObjectMap::name_objects() {
  for (const ObjectId object : named_by_site_) {
    TracedObject& entry = objects[object.index()];
    const Site& site = program_.sites[entry.site.index()];
    entry.symbol = site.file.empty() ? site.function : site.file + ":" + std::to_string(site.line);
  }
  named_by_site_.clear();
}

}  // namespace homenode
