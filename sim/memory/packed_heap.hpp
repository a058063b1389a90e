// The heap without a manager: AddressSpace packs small blocks by thread and gives large ones pages of their own, at no cost. What is freed
// is kept for blocks of the same size, with its pages: heaps give memory back to the system too seldom to be told here.
#pragma once

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "sim/memory/address_space.hpp"
#include "sim/policy/heap_manager.hpp"

namespace homenode {

class PackedHeap final : public HeapManager {
public:
  void prepare(const HeapSetting& setting) override { addresses_ = &setting.addresses; }
  HeapEffect allocate(const AllocationRequest& request, const Place& place) override {
    const Kind kind = kind_of(request, place.thread);
    std::vector<Address>& free = free_[kind];
    AddressRange range;
    if (free.empty()) {
      range = addresses_->place_object(request.object, place.thread);
    } else {
      range = AddressRange::of(free.back(), request.bytes);
      free.pop_back();
    }
    blocks_.insert_or_assign(range.first, Block{kind, range});
    return {range, Time{}, Time{}, {}};
  }
  HeapEffect release(ObjectId, Address address, const Place&) override {
    const auto found = blocks_.find(address);
    const Block block = found->second;
    free_[block.kind].push_back(address);
    blocks_.erase(found);
    return {{}, Time{}, Time{}, {{PageOperation::Kind::forget, block.range}}};
  }
  std::uint64_t reserved_bytes() const override { return addresses_->heap_bytes_placed(); }

private:
  // Blocks that may take each other's place: the thread that a small one is packed for, bytes and alignment.
  using Kind = std::tuple<ThreadId, std::uint64_t, std::uint64_t>;
  struct Block {
    Kind kind;
    AddressRange range;
  };
  Kind kind_of(const AllocationRequest& request, ThreadId thread) const {
    const bool large = request.bytes >= AddressSpace::own_pages_from;
    const std::uint64_t alignment = std::max<std::uint64_t>(request.alignment, AddressSpace::heap_header);
    if (large) return {ThreadId::none(), round_up(request.bytes + AddressSpace::heap_header, addresses_->page_bytes()), alignment};
    return {thread, round_up(request.bytes, AddressSpace::heap_header), alignment};
  }

  AddressSpace* addresses_ = nullptr;
  std::map<Kind, std::vector<Address>> free_;
  std::map<Address, Block> blocks_;
};

}  // namespace homenode
