// The heap without a manager: AddressSpace packs small blocks by thread and gives large ones pages of their own, at no cost.
#pragma once

#include "sim/memory/address_space.hpp"
#include "sim/policy/heap_manager.hpp"

namespace homenode {

class PackedHeap final : public HeapManager {
public:
  void prepare(const HeapSetting& setting) override { addresses_ = &setting.addresses; }
  HeapEffect allocate(const AllocationRequest& request, const Place& place) override {
    return {addresses_->place_object(request.object, place.thread), Time{}, Time{}, {}};
  }
  HeapEffect release(ObjectId object, Address, const Place&) override {
    return {{}, Time{}, Time{}, {{PageOperation::Kind::forget, addresses_->release_object(object)}}};
  }
  std::uint64_t reserved_bytes() const override { return addresses_->heap_bytes_placed(); }

private:
  AddressSpace* addresses_ = nullptr;
};

}  // namespace homenode
