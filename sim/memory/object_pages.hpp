// Pages by object: the nodes that they came to, and the nodes that hold them at the end. A page counts for the object whose first write
// placed it, wherever else it reaches.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/base/addresses.hpp"
#include "sim/base/ids.hpp"
#include "sim/program/workload.hpp"
#include "sim/report/report.hpp"

namespace homenode {

class ObjectPages {
public:
  explicit ObjectPages(std::size_t nodes) : nodes_{nodes} {}
  // Pages [first, last), so many on each node. `object` may be none().
  void placed(PageNumber first, PageNumber last, ObjectId, std::span<const std::uint64_t> by_node);
  // A page that was placed before.
  void moved(PageNumber, NodeId from, NodeId to);
  // Sums over objects of one kind and symbol, those with most pages first.
  std::vector<SymbolPages> by_symbol(const Workload&) const;

private:
  struct Counts {
    ObjectId object = ObjectId::none();
    std::vector<std::uint64_t> placed, at_end;  // by node
  };
  std::uint32_t counts_of(ObjectId);

  std::size_t nodes_;
  std::vector<Counts> counts_;
  std::unordered_map<std::uint64_t, std::uint32_t> place_;  // of an object's counts, by its number
  std::vector<std::uint32_t> of_page_;                      // place of the counts that a page is in
  std::uint32_t last_ = 0;                                  // faults of an object come together
};

}  // namespace homenode
