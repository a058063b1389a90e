// Heaps that hand out whole cache lines from lists of each core, filled from large chunks; larger requests go to glibc's heap
// (Gerofi et al., section 4). Pages of a chunk are placed when the chunk is allocated, ahead of use. A freed block goes back to the list
// that it came from.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/heap/heap_costs.hpp"
#include "sim/memory/address_space.hpp"
#include "sim/policy/heap_manager.hpp"

namespace homenode {

class LineBlocks : public HeapManager {
public:
  // `name` is for errors.
  LineBlocks(std::string name, const Parameters&);

  static std::vector<ParameterSpec> parameters();

  void prepare(const HeapSetting&) override;
  HeapLock lock_to_allocate(const AllocationRequest&, const Place&) override;
  HeapLock lock_to_release(Address address, const Place&) override;
  HeapEffect allocate(const AllocationRequest&, const Place&) override;
  HeapEffect release(ObjectId, Address address, const Place&) override;
  std::uint64_t reserved_bytes() const override { return reserved_ + larger_->reserved_bytes(); }

protected:
  // Gives each line of a chunk to a core's list (or to nobody's), by `give`.
  virtual void share_out(AddressRange chunk) = 0;
  virtual void prepared(const HeapSetting&) {}

  const std::vector<CoreId>& cores() const { return cores_; }  // that threads run on, each once, ascending
  std::uint64_t line_bytes() const { return line_bytes_; }
  std::size_t blocks_left(CoreId core) const { return lists_[core.index()].size(); }
  void give(Address block, CoreId core) { lists_[core.index()].push_back(block); }
  void give_to_nobody(Address block) { spare_.push_back(block); }

private:
  bool small(const AllocationRequest& request) const { return request.bytes <= line_bytes_ && request.alignment <= line_bytes_; }
  void refill(const Place&);

  std::string name_;
  Parameters given_;
  std::unique_ptr<HeapManager> larger_;
  HeapCosts costs_{};
  const Machine* machine_ = nullptr;
  AddressSpace* addresses_ = nullptr;
  std::vector<CoreId> cores_;
  std::uint64_t line_bytes_ = 64, chunk_bytes_ = 0, reserved_ = 0;
  std::vector<std::vector<Address>> lists_;  // by core: the last is handed out next
  std::vector<Address> spare_;
  std::vector<bool> gets_none_;  // by core: the last chunk had no block for it, so that spare ones come first
  static constexpr std::size_t nobody = ~std::size_t{0};
  std::unordered_map<Address, std::size_t> list_of_;  // of a block that is out: core, or nobody
};

}  // namespace homenode
