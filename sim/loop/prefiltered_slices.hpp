// The slices of a loop whose iterations are shared out whatever the time (OpenMP's static, code bound to ranks): they pass the caches
// in rounds, the first slice of every thread, then the second of every thread, whenever each starts. So what leaves the caches does
// not depend on where pages lie, and neither on how an engine rounds; it is what threads of equal speed would see.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/hardware/memory_model.hpp"
#include "sim/loop/slice_cutter.hpp"
#include "sim/policy/work_distribution.hpp"
#include "sim/program/workload.hpp"

namespace homenode {

// Code bound to ranks (thread t runs iteration t, if there is one) or replicated (every thread runs iteration 0), as a distribution.
std::unique_ptr<WorkDistribution> one_iteration_each(ExecutionId, const Execution&);

class PrefilteredSlices {
public:
  // `hands_out`, a distribution's fixed_schedule, is asked for every thread's iterations; none of them has heap calls or synchronisation.
  // The cutter must outlive the slices.
  PrefilteredSlices(std::unique_ptr<WorkDistribution> hands_out, std::vector<Place> places, std::shared_ptr<const ExecutionBody>,
                    SliceCutter&);

  // To be called before each slice that the thread starts.
  void before_start(ThreadId, MemoryModel&, AddressSpace&);

private:
  struct Member {
    Place place;
    ItemRange items;             // what it was handed last
    std::int64_t next = 0;       // first of them that is not foreseen
    std::size_t block = 0;       // where that one is
    std::uint64_t sequence = 0;  // how far, if it comes in stretches
    std::uint64_t started = 0;   // slices
    bool finished = false;
  };
  void filter_ahead(Member&, MemoryModel&, AddressSpace&);
  std::uint64_t equal_slices_behind(const Member&, const Work&) const;
  void jump(MemoryModel&, AddressSpace&);

  std::unique_ptr<WorkDistribution> hands_out_;
  std::vector<Member> members_;
  std::shared_ptr<const ExecutionBody> body_;
  SliceCutter& cutter_;
  std::uint64_t rounds_ = 0;
  std::vector<Work> round_;  // its slices; none if one of them is a stretch
  bool stretches_ = false;
};

}  // namespace homenode
