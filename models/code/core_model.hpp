// Core time of the code that a program executed. The program homenode-mca (models/core) has LLVM-MCA run windows of the block sequence;
// its answers are kept in a folder by what was asked, so that a second replay asks nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "sim/machine/machine.hpp"
#include "sim/program/code_cycles.hpp"
#include "sim/program/workload.hpp"

namespace homenode {

struct CoreModelFiles {
  std::filesystem::path program;  // homenode-mca; empty: there is none
  std::filesystem::path answers;  // a folder that is made when it is needed
};
// Once, before the first run of this process.
void use_core_model(CoreModelFiles);

// What RunSpec::core takes.
std::vector<std::string> core_model_names();

// Null where instructions count by classes: asked for; or `auto`, and the trace has no code, the machine's core no model, or there is no
// program. Throws UsageError where `blocks` lacks one of these, or the program refuses the machine's core.
std::shared_ptr<const CodeCycles> code_cycles(const Workload&, const Machine&, const std::string& core);

// Whether `auto` is `blocks` for a core of this name.
bool has_core_model(const Workload&, const std::string& llvm_cpu);

// Of each block of the workload's code, by its number: what the program made of it.
struct BlockCycles {
  double cycles = -1;  // of one execution, 0 where it retires with the one before; negative: it was not looked at
  bool alone = false;
  std::string bound{};
  double resolution = 0;              // cycles of each misprediction of the branch at its end beyond core.misprediction; negative: fewer
  double wide_256 = 0, wide_512 = 0;  // instructions of it that ask for the clock of such vectors
  // Shares of the cycles: the busiest unit is in use, or dispatch; the front end hands over lines of code.
  double busiest = 0, fetching = 0;
  // An instruction that loads. Of one execution of the block: LoadWaits (models/core/load_waits.hpp).
  struct Load {
    std::uint32_t instruction = 0;
    double loads = 0, waited = 0;
  };
  std::vector<Load> loads{};  // in order; empty if alone
  double all_loads() const {
    return std::accumulate(loads.begin(), loads.end(), 0.0, [](double sum, const Load& load) { return sum + load.loads; });
  }
  double all_waited() const {
    return std::accumulate(loads.begin(), loads.end(), 0.0, [](double sum, const Load& load) { return sum + load.waited; });
  }
  bool is_known() const { return cycles >= 0; }
};
std::vector<BlockCycles> block_cycles(const Workload&, const std::string& llvm_cpu);

// Sums over the blocks of each region. Blocks that were not looked at, which are few, take as long by instruction as the others.
CodeCycles region_cycles(const Workload&, const std::vector<BlockCycles>&);

// What the program is asked: README.md of models/core has the form.
std::string core_model_request(const Workload&, const std::string& llvm_cpu);

}  // namespace homenode
