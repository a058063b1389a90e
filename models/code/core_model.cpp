#include "models/code/core_model.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "models/code/answers.hpp"
#include "sim/base/errors.hpp"

namespace homenode {
namespace {

constexpr double worth_a_call = 0.01;  // of all instructions: a function of a library that executes less takes no time
constexpr double worth_a_look = 1e-4;  // of all instructions: a block of less that is in no window is not asked for
constexpr double rarest = 1000;        // executions a misprediction: the program is told of no rarer ones

CoreModelFiles& files() {
  static CoreModelFiles used;
  return used;
}

// Why there is nothing to ask; empty: there is.
std::string what_is_missing(const Workload& workload, const Machine& machine) {
  if (workload.executed.counts.empty()) return "the trace has no code (captured by an older homenode, or imported)";
  if (machine.core.llvm_cpu.empty()) return "the core of machine '" + machine.name + "' has no model (core.llvm_cpu)";
  if (files().program.empty()) return "this homenode was built without LLVM";
  return {};
}

// By block: its instructions in all regions.
std::vector<double> instructions_of(const ExecutedCode& code) {
  std::vector<double> instructions(code.blocks.size(), 0);
  for (const CodeCount& count : code.counts) instructions[count.block] += count.executions * code.blocks[count.block].instructions;
  return instructions;
}

// By block: whether what it calls counts. Which variant of a library's function runs depends on the capture's host, so that those which
// hardly matter are left out: reports stay the same wherever a program with few calls was captured.
std::vector<bool> calls_that_count(const ExecutedCode& code) {
  std::vector<double> called(code.blocks.size(), 0);  // instructions in all calls, by the block that is called
  double all = 0;
  for (const CodeCount& count : code.counts) {
    const CodeBlock& block = code.blocks[count.block];
    all += count.executions * block.instructions;
    if (block.calls != 0) called[block.calls - 1] += count.executions * code.blocks[block.calls - 1].instructions;
  }
  std::vector<bool> counts(code.blocks.size(), false);
  for (std::size_t b = 0; b < counts.size(); ++b)
    counts[b] = code.blocks[b].calls != 0 && called[code.blocks[b].calls - 1] > worth_a_call * all;
  return counts;
}

// Which blocks the program is told.
std::vector<bool> asked_for(const ExecutedCode& code) {
  std::vector<bool> asked(code.blocks.size(), false);
  for (const CodeWindow& window : code.windows)
    for (const std::uint32_t block : window.blocks) asked[block] = true;
  const std::vector<double> instructions = instructions_of(code);
  double all = 0;
  for (const double each : instructions) all += each;
  const std::vector<bool> calls = calls_that_count(code);
  for (std::size_t b = 0; b < asked.size(); ++b)
    if (instructions[b] > worth_a_look * all) asked[b] = true;
  for (std::size_t b = 0; b < asked.size(); ++b)
    if (asked[b] && calls[b]) asked[code.blocks[b].calls - 1] = true;
  return asked;
}

void add_hex(std::string& text, std::string_view bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  for (const char byte : bytes)
    text += digits[static_cast<unsigned char>(byte) >> 4], text += digits[static_cast<unsigned char>(byte) & 15];
}

// Of blocks that were looked at, those of libraries included.
struct WideInstructions {
  double instructions = 0, of_256 = 0, of_512 = 0;
  void add(double executions, const CodeBlock& block, const BlockCycles& found) {
    instructions += executions * block.instructions;
    of_256 += executions * found.wide_256;
    of_512 += executions * found.wide_512;
  }
};

bool has_code(const CodeBlock& block) { return !block.bytes.empty(); }

void add_block(std::string& text, std::size_t number, const CodeBlock& block) {
  text += (block.stepped ? "steps " : "block ") + std::to_string(number);
  const std::size_t piece = block.stepped ? CodeBlock::stepped_bytes : block.bytes.size();
  for (std::size_t at = 0; at < block.bytes.size(); at += piece) {
    text += ' ';
    add_hex(text, std::string_view{block.bytes}.substr(at, piece));
  }
  if (!block.stepped && block.address != 0) {
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.begin(), digits.end(), block.address, 16).ptr;
    text.append(" ").append(digits.begin(), end);
  }
  text += '\n';
}

// Blocks whose branch is predicted wrong now and then.
void add_wrong(std::string& text, const ExecutedCode& code, const std::vector<bool>& asked) {
  std::vector<double> executions(code.blocks.size(), 0), wrong(code.blocks.size(), 0);
  for (const CodeCount& count : code.counts) {
    executions[count.block] += count.executions;
    wrong[count.block] += count.mispredictions;
  }
  for (std::size_t b = 0; b < asked.size(); ++b) {
    if (!asked[b] || !has_code(code.blocks[b]) || wrong[b] * rarest < executions[b] || wrong[b] <= 0) continue;
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.begin(), digits.end(), std::max(1.0, executions[b] / wrong[b])).ptr;
    text += "wrong " + std::to_string(b) + ' ';
    text.append(digits.begin(), end);
    text += '\n';
  }
}

void add_window(std::string& text, const ExecutedCode& code, const CodeWindow& window, const std::vector<bool>& calls) {
  text += "sequence";
  for (std::size_t i = 0; i < window.blocks.size(); ++i) {
    const std::uint32_t block = window.blocks[i], called = code.blocks[block].calls;
    const std::string number = ' ' + std::to_string(block);
    if (!calls[block] || !has_code(code.blocks[called - 1])) {
      text += number + (window.times[i] > 1 ? '*' + std::to_string(window.times[i]) : "");
      continue;
    }
    for (std::uint32_t n = 0; n < window.times[i]; ++n) text += number + ' ' + std::to_string(called - 1);
  }
  text += '\n';
}

// For sites whose own line has no load. Assumed; how little times depend on them: validation/DEVIATIONS.md, Loads that a core waits for.
constexpr std::uint32_t lines_before = 50;  // that a site's block may begin before it
constexpr double least_of_most = 0.01;      // loads of a block that counts, over those of the busiest within these lines

// Of the source: file, and number in it.
using Line = std::pair<std::string_view, std::uint32_t>;
using LoadsByLine = std::map<Line, BlockCycles::Load>;

LoadsByLine loads_by_line(const ExecutedCode& code, const std::vector<BlockCycles>& blocks) {
  LoadsByLine result;
  for (const CodeCount& count : code.counts) {
    if (!blocks[count.block].is_known() || count.executions <= 0) continue;
    for (const BlockCycles::Load& load : blocks[count.block].loads) {
      const Line line = code.line_of(count.block, load.instruction);
      if (line.second == 0) continue;
      BlockCycles::Load& sum = result[line];
      sum.loads += count.executions * load.loads;
      sum.waited += count.executions * load.waited;
    }
  }
  return result;
}

// Of the nearest line before this one. A loop's body may begin with an inlined function from further up; lines in between, whose blocks ran
// a few times, are passed over.
double waited_before(const LoadsByLine& by_line, const Line& line) {
  const auto end = by_line.upper_bound(line), begin = by_line.lower_bound({line.first, line.second - std::min(line.second, lines_before)});
  double most = 0;
  for (auto each = begin; each != end; ++each) most = std::max(most, each->second.loads);
  for (auto each = end; each != begin && most > 0;) {
    --each;
    if (each->second.loads >= least_of_most * most) return each->second.waited / each->second.loads;
  }
  return 0;
}

// By site: that of the loads of its line. Where the trace does not tell which these are, a block's loads are of the line that it begins at,
// and the nearest of these is taken.
std::shared_ptr<const WaitedLoads> waited_loads(const Workload& workload, const std::vector<BlockCycles>& blocks) {
  const LoadsByLine by_line = loads_by_line(workload.executed, blocks);
  auto result = std::make_shared<WaitedLoads>();
  for (const Site& site : workload.sites) {
    const Line line{site.file, site.line};
    const auto exact = workload.executed.places.empty() ? by_line.end() : by_line.find(line);
    const double share = exact != by_line.end() ? exact->second.waited / exact->second.loads : waited_before(by_line, line);
    result->push_back(static_cast<std::uint8_t>(std::lround(255 * std::min(1.0, share))));
  }
  return result;
}

}  // namespace

void use_core_model(CoreModelFiles used) { files() = std::move(used); }

bool has_core_model(const Workload& workload, const std::string& llvm_cpu) {
  return !workload.executed.counts.empty() && !llvm_cpu.empty() && !files().program.empty();
}

std::vector<std::string> core_model_names() { return {"auto", "blocks", "classes"}; }

std::string core_model_request(const Workload& workload, const std::string& llvm_cpu) {
  const ExecutedCode& code = workload.executed;
  std::string text = "cpu " + llvm_cpu + '\n';
  const std::vector<bool> asked = asked_for(code);
  for (std::size_t b = 0; b < asked.size(); ++b)
    if (asked[b] && has_code(code.blocks[b])) add_block(text, b, code.blocks[b]);
  add_wrong(text, code, asked);
  const std::vector<bool> calls = calls_that_count(code);
  for (const CodeWindow& window : code.windows) add_window(text, code, window, calls);
  return text + "end\n";
}

std::vector<BlockCycles> block_cycles(const Workload& workload, const std::string& llvm_cpu) {
  std::vector<BlockCycles> result(workload.executed.blocks.size());
  const nlohmann::json answer = nlohmann::json::parse(answer_to(core_model_request(workload, llvm_cpu), files()));
  for (const auto& [number, block] : answer.at("blocks").items()) {
    const std::size_t place = std::stoull(number);
    if (place >= result.size()) throw InputError("the core model speaks of block " + number + ", which it was not asked for");
    result[place] = {.cycles = block.at("cycles"),
                     .alone = block.at("alone"),
                     .bound = block.at("bound"),
                     .resolution = block.at("resolution"),
                     .wide_256 = block.at("wide_256"),
                     .wide_512 = block.at("wide_512"),
                     .busiest = block.at("busiest"),
                     .fetching = block.at("fetching"),
                     .loads = {}};
    for (const auto& load : block.at("loads")) result[place].loads.push_back({load.at(0), load.at(1), load.at(2)});
  }
  return result;
}

CodeCycles region_cycles(const Workload& workload, const std::vector<BlockCycles>& blocks) {
  struct Sum {
    double instructions = 0, known_instructions = 0, cycles = 0, of_calls = 0, mispredictions = 0, resolution = 0;
    double in_sequences = 0, loads = 0;  // instructions
    WideInstructions wide{};
    SharedUnits units{};
  };
  const ExecutedCode& code = workload.executed;
  const std::vector<bool> calls = calls_that_count(code);
  std::vector<Sum> sums(workload.regions.size());
  for (const CodeCount& count : code.counts) {
    Sum& sum = sums[count.region.index()];
    const CodeBlock& block = code.blocks[count.block];
    const double instructions = count.executions * block.instructions;
    sum.instructions += instructions;
    sum.mispredictions += count.mispredictions;
    if (blocks[count.block].is_known()) {
      sum.known_instructions += instructions;
      sum.cycles += count.executions * blocks[count.block].cycles;
      sum.units.add(count.executions * blocks[count.block].cycles,
                    {.units = blocks[count.block].busiest, .fetching = blocks[count.block].fetching});
      sum.resolution += count.mispredictions * blocks[count.block].resolution;
      sum.wide.add(count.executions, block, blocks[count.block]);
      sum.loads += count.executions * blocks[count.block].all_loads();
      if (!blocks[count.block].alone) sum.in_sequences += instructions;
    }
    if (!calls[count.block]) continue;
    const CodeBlock& called = code.blocks[block.calls - 1];
    if (blocks[block.calls - 1].is_known()) sum.wide.add(count.executions, called, blocks[block.calls - 1]);
    sum.of_calls +=
        count.executions * (has_code(called) ? std::max(blocks[block.calls - 1].cycles, 0.0) : called.nanoseconds * 1e-9 * code.host_hertz);
  }
  CodeCycles result;
  for (Sum& sum : sums) {
    RegionCycles& region = result.regions.emplace_back();
    if (sum.known_instructions <= 0) continue;
    region.cycles = sum.cycles / sum.known_instructions + sum.of_calls / sum.instructions;
    sum.units.scale(1 / sum.known_instructions);
    region.units = sum.units;
    region.mispredictions = sum.mispredictions / sum.instructions;
    region.resolution = sum.resolution / sum.instructions;
    if (sum.in_sequences > 0) region.loads = sum.loads / sum.in_sequences;
    region.wide_256 = sum.wide.of_256 / sum.wide.instructions;
    region.wide_512 = sum.wide.of_512 / sum.wide.instructions;
  }
  result.waited = waited_loads(workload, blocks);
  return result;
}

std::shared_ptr<const CodeCycles> code_cycles(const Workload& workload, const Machine& machine, const std::string& core) {
  if (core == "classes") return nullptr;
  if (const std::string missing = what_is_missing(workload, machine); !missing.empty()) {
    if (core == "blocks") throw UsageError("core time by blocks: " + missing + "; allowed: --core classes, or auto");
    return nullptr;
  }
  return workload.code_cycles.get(machine.core.llvm_cpu,
                                  [&] { return region_cycles(workload, block_cycles(workload, machine.core.llvm_cpu)); });
}

}  // namespace homenode
