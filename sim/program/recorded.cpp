#include "sim/program/recorded.hpp"

#include <algorithm>
#include <array>

#include "sim/base/errors.hpp"

namespace homenode {
namespace {

struct Described {
  const char* name;
  const char* meaning;
};
constexpr std::array<Described, recorded_kinds> described{{
    {"objects", "the program's own objects"},
    {"heap-calls", "allocations and releases"},
    {"iterations", "iterations that may go to any thread"},
    {"work", "instructions by class"},
    {"dependence", "the loads that addresses come from"},
    {"streamable-stores", "stores marked streamable"},
    {"synchronisation", "barriers and locks"},
    {"threads", "the thread of each access"},
    {"thread-creation", "who creates and joins whom"},
    {"marks", "marks of steps, owners and thread types"},
}};

}  // namespace

std::string name_of(Recorded what) { return described[static_cast<std::size_t>(what)].name; }
std::string meaning_of(Recorded what) { return described[static_cast<std::size_t>(what)].meaning; }

bool has(const Workload& workload, Recorded what) {
  return std::find(workload.lacks.begin(), workload.lacks.end(), name_of(what)) == workload.lacks.end();
}

void require(const Workload& workload, Recorded what, const std::string& who) {
  if (has(workload, what)) return;
  throw UsageError(who + " needs " + meaning_of(what) + ", which the imported trace of '" + workload.program + "' lacks (" + name_of(what) +
                   "); allowed: a trace that `homenode capture` made");
}

}  // namespace homenode
