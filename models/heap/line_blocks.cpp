#include "models/heap/line_blocks.hpp"

#include <algorithm>

#include "models/heap/register.hpp"
#include "sim/base/errors.hpp"
#include "sim/memory/address_space.hpp"

namespace homenode {

LineBlocks::LineBlocks(std::string name, const Parameters& given)
    : name_{std::move(name)}, given_{given}, larger_{heap_managers().make("glibc")} {}

std::vector<ParameterSpec> LineBlocks::parameters() {
  std::vector<ParameterSpec> all = HeapCosts::parameters(HeapCosts::line_blocks_cycles);
  all.push_back(
      bytes_parameter("chunk", "memory to request from the system at once (assumed)", Bytes{std::int64_t{64} << 20}, Bytes{4096}));
  return all;
}

void LineBlocks::prepare(const HeapSetting& setting) {
  machine_ = &setting.machine;
  addresses_ = &setting.addresses;
  costs_ = HeapCosts::of(given_, setting.machine);
  line_bytes_ = setting.addresses.line_bytes();
  const std::uint64_t page = setting.addresses.page_bytes();
  chunk_bytes_ = round_up(static_cast<std::uint64_t>(given_.bytes("chunk").count()), page);
  cores_ = setting.core;
  std::sort(cores_.begin(), cores_.end());
  cores_.erase(std::unique(cores_.begin(), cores_.end()), cores_.end());
  lists_.assign(setting.machine.cores(), {});
  gets_none_.assign(setting.machine.cores(), false);
  larger_->prepare(setting);
  prepared(setting);
}

HeapLock LineBlocks::lock_to_allocate(const AllocationRequest& request, const Place& place) {
  return small(request) ? HeapLock{} : larger_->lock_to_allocate(request, place);
}

HeapLock LineBlocks::lock_to_release(Address address, const Place& place) {
  return list_of_.contains(address) ? HeapLock{} : larger_->lock_to_release(address, place);
}

void LineBlocks::refill(const Place& place) {
  std::uint64_t memory = 0;
  for (const NodeDescription& node : machine_->nodes) memory += static_cast<std::uint64_t>(node.memory.count());
  if (reserved_ + chunk_bytes_ > memory) {
    throw UsageError("heap '" + name_ + "' wants a chunk of " + to_string(Bytes{static_cast<std::int64_t>(chunk_bytes_)}) + " beside " +
                     to_string(Bytes{static_cast<std::int64_t>(reserved_)}) + "; allowed: the memory of machine '" + machine_->name +
                     "', " + to_string(Bytes{static_cast<std::int64_t>(memory)}));
  }
  const AddressRange chunk = addresses_->reserve(chunk_bytes_);
  reserved_ += chunk_bytes_;
  addresses_->touch(chunk, true, place);
  share_out(chunk);
}

HeapEffect LineBlocks::allocate(const AllocationRequest& request, const Place& place) {
  if (!small(request)) return larger_->allocate(request, place);
  std::vector<Address>* list = &lists_[place.core.index()];
  unsigned map_changes = 0;
  const std::size_t core = place.core.index();
  if (list->empty() && (spare_.empty() || !gets_none_[core])) {
    refill(place);
    gets_none_[core] = list->empty();
    map_changes = 1;
  }
  const bool own = !list->empty();
  if (!own) list = &spare_;
  if (list->empty())
    throw UsageError("heap '" + name_ + "': a chunk has no block for core " + std::to_string(place.core.value()) +
                     "; allowed: larger chunks");
  const Address block = list->back();
  list->pop_back();
  list_of_[block] = own ? place.core.index() : nobody;
  return {.range = AddressRange::of(block, request.bytes), .held = Time{}, .cost = costs_.call, .map_changes = map_changes};
}

HeapEffect LineBlocks::release(ObjectId object, Address address, const Place& place) {
  const auto found = list_of_.find(address);
  if (found == list_of_.end()) return larger_->release(object, address, place);
  (found->second == nobody ? spare_ : lists_[found->second]).push_back(address);
  list_of_.erase(found);
  return {{}, Time{}, costs_.call, {}};
}

}  // namespace homenode
