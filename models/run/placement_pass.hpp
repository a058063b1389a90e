// The parallel initialisation pass that enacts a placement before the computation (S0 section 4: OpenMP code that creates and fills
// the buffers in the pattern of the computation): each thread writes a byte of every page that it is to touch first.
#pragma once

#include <memory>
#include <span>

#include "sim/policy/page_placement.hpp"
#include "sim/program/access_summary.hpp"
#include "sim/program/workload.hpp"
#include "sim/report/report.hpp"

namespace homenode {

inline constexpr const char* placement_pass_label = "placement pass";

// A program of one region, in which each of `threads` threads touches its pages. It has the objects of `program`, so that it runs in
// the same address space. Null if there is nothing to touch.
std::shared_ptr<Workload> placement_pass(const Workload& program, const AccessSummary&, std::span<const TouchedPages>, unsigned threads);

// Makes `program` the report of both: the pass ran before it.
void put_in_front(const RunReport& pass, RunReport& program);

}  // namespace homenode
