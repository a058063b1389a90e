// Which pages Carrefour replicates, and when. Conditions and thresholds are those of the authors' sources, whose options are the paper's
// (carrefour-module, README.md): of the program in carrefour-runtime's carrefour.c, of a page in carrefour-module's src/carrefour.c
// (decide_page_fate), of pages that collapse in their kernel (include/linux/replicate-options.h, arch/x86/mm/fault.c).
//
// Assumed: every store is seen, at no cost, where Carrefour samples; and reads are lines that come from memory, where the controller counts
// refills of the data cache that are not in state modified.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/policy/page_placement.hpp"

namespace homenode {

struct ReplicaThresholds {
  bool on = false;
  double read_share = 0;          // of the program's accesses, at least
  double used_memory = 0;         // share of the machine's memory, at most
  std::uint64_t first_pages = 0;  // that have to qualify in one period before any page is replicated
  std::uint64_t collapses = 0;    // of a page: after more it is not replicated again
};

class CarrefourReplicas {
public:
  explicit CarrefourReplicas(const ReplicaThresholds& thresholds) : thresholds_{thresholds} {}

  bool on() const { return thresholds_.on; }
  void prepare(const Machine&);
  void observe(std::span<const PageUse>);
  // `shared`: pages that several nodes used in this period, with a home, each a single one.
  void replicate(std::span<const PageNumber> shared, PageActions&);
  void end_period(PageActions&);

private:
  bool worthwhile(const PageActions&) const;

  ReplicaThresholds thresholds_;
  std::vector<std::uint64_t> bytes_of_node_;
  double read_bytes_ = 0, written_bytes_ = 0;  // exchanged with memory in this period
  bool begun_ = false;
};

}  // namespace homenode
