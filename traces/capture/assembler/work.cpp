#include "traces/capture/assembler/work.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "sim/base/errors.hpp"
#include "sim/base/text.hpp"
#include "traces/capture/assembler/names.hpp"
#include "traces/capture/assembler/symbols.hpp"

namespace homenode {

namespace {

// What an instruction count of one call is, by the twin's number of the function.
struct Function {
  std::string name, library;
  RecordedOfCall recorded = RecordedOfCall::nothing;
  InstructionBasis basis = InstructionBasis::none;
  double instructions = 0;
  std::uint64_t samples = 0;
  std::uint32_t block = 0;  // 1 + that of its code; 0: none
};

// What ran in a stretch of the program, or in a region.
struct Ran {
  struct Block {
    double executions = 0, mispredictions = 0;
  };
  WorkCounts work;
  std::map<std::uint64_t, double> calls;  // by the function's number
  std::map<std::uint32_t, Block> blocks;  // by their number

  void add(const Ran& other, double part) {
    work += other.work.scaled(part);
    for (const auto& [function, number] : other.calls) calls[function] += part * number;
    for (const auto& [block, count] : other.blocks) {
      blocks[block].executions += part * count.executions;
      blocks[block].mispredictions += part * count.mispredictions;
    }
  }
};
struct Sum : Ran {
  std::uint64_t accesses = 0, iterations = 0;
  bool is_serial = false;
};

RecordedOfCall recorded_of(const std::string& symbol) {
  static const std::set<std::string> heap{"malloc",        "calloc",         "realloc", "free",   "memalign",
                                          "aligned_alloc", "posix_memalign", "mmap",    "mmap64", "munmap"};
  // those that traces/capture/runtime/bulk.c stands in for
  static const std::set<std::string> bulk{"memcpy",        "memmove",      "mempcpy", "memset",  "__memcpy_chk",   "__memmove_chk",
                                          "__mempcpy_chk", "__memset_chk", "strdup",  "strndup", "read",           "pread",
                                          "__read_chk",    "pread64",      "readv",   "fread",   "fread_unlocked", "__fread_chk"};
  const bool is_operator =
      symbol.starts_with("_Znw") || symbol.starts_with("_Zna") || symbol.starts_with("_Zdl") || symbol.starts_with("_Zda");
  if (is_operator || heap.contains(symbol)) return RecordedOfCall::heap;
  return bulk.contains(symbol) ? RecordedOfCall::accesses : RecordedOfCall::nothing;
}

Function function_of(const nlohmann::json& note) {
  static const std::array<const char*, 5> bases{"counted", "stepped", "timed", "at_least", "none"};
  const std::string symbol = note.at("name"), basis = note.at("basis");
  Function function;
  function.name = symbol.empty() ? "(through pointers)" : readable_name(symbol, false);
  function.library = note.at("library");
  function.recorded = recorded_of(symbol);
  for (std::size_t b = 0; b < bases.size(); ++b)
    if (basis == bases[b]) function.basis = static_cast<InstructionBasis>(b);
  function.instructions = note.at("instructions");
  function.samples = note.at("samples");
  return function;
}

WorkCounts work_of(const nlohmann::json& note) {
  WorkCounts work;
  work.instructions = note.at("instructions"), work.integer = note.at("integer"), work.fp_add = note.at("fp_add");
  work.fp_multiply = note.at("fp_multiply"), work.fp_fma = note.at("fp_fma"), work.divide = note.at("divide");
  work.load = note.at("load"), work.store = note.at("store"), work.branch = note.at("branch");
  return work;
}

// The twin writes each byte that is no ASCII as the character of this number.
std::string bytes_of_characters(const std::string& utf8) {
  std::string bytes;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto c = static_cast<unsigned char>(utf8[i]);
    const bool two = (c == 0xc2 || c == 0xc3) && i + 1 < utf8.size();
    bytes += two ? static_cast<char>((c & 3) << 6 | (static_cast<unsigned char>(utf8[++i]) & 0x3f)) : utf8[i];
  }
  return bytes;
}

std::string bytes_of(const std::string& hex) {
  std::string bytes(hex.size() / 2, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    unsigned byte = 0;
    const char* digits = hex.data() + 2 * i;
    if (std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2)
      throw InputError("the twin's code has '" + hex.substr(2 * i, 2) + "'");
    bytes[i] = static_cast<char>(byte);
  }
  return bytes;
}

// Instrumented code of a region, then its calls by name: several objects may call one function, each with a number of its own.
void add_code(std::vector<RegionCode>& code, RegionId region, const Sum& sum, const std::map<std::uint64_t, Function>& functions) {
  if (sum.work.instructions == 0 && sum.calls.empty()) return;
  code.push_back({.region = region, .function = {}, .library = {}, .instructions = sum.work.instructions});
  std::map<std::pair<std::string, std::string>, RegionCode> by_name;
  for (const auto& [number, calls] : sum.calls) {
    const auto found = functions.find(number);
    if (found == functions.end()) continue;
    const Function& function = found->second;
    RegionCode& entry = by_name[{function.library, function.name}];
    const bool first = entry.function.empty();
    entry.region = region, entry.function = function.name, entry.library = function.library;
    entry.recorded = function.recorded;
    entry.basis = first ? function.basis : std::max(entry.basis, function.basis);  // the least certain
    entry.calls += calls;
    entry.instructions += calls * function.instructions;
    entry.samples += function.samples;
  }
  for (auto& [name, entry] : by_name) code.push_back(std::move(entry));
}

}  // namespace

// The twin's file. It names a call's function by its number, a block of code by its own, which are not all there.
struct TwinWork::Counted {
  struct Stretch : Ran {
    bool placed = false;
  };
  using Name = std::pair<std::string, std::uint64_t>;
  std::map<Name, Stretch> stretches;
  std::map<Name, double> seconds;  // the least of the runs of the timed program that came to their end
  std::map<std::uint64_t, Function> functions;
  ExecutedCode code;
  bool whole = false;

  explicit Counted(std::istream& file) {
    bool cut = false;  // a program that was killed left half a line before the next one's
    for (std::string line; std::getline(file, line);) {
      if (line.empty() || file.eof()) continue;  // a line without its end was cut
      const nlohmann::json note = nlohmann::json::parse(line, nullptr, false);
      if (note.is_discarded())
        cut = true;
      else
        take(note);
    }
    whole &= !cut;
    for (auto& [name, stretch] : stretches) count_calls(stretch);
    renumber();
  }

private:
  std::map<std::uint64_t, std::uint32_t> place_;                               // of a block in `code`, by the twin's number
  std::string file_of_place_;                                                  // of the last one
  std::map<std::uint64_t, std::uint64_t> calls_;                               // function that a block calls
  std::vector<std::vector<std::pair<std::uint64_t, std::uint32_t>>> windows_;  // by the twin's numbers
  std::map<Name, double> run_;                                                 // of the timed program, the one that is being read

  void take(const nlohmann::json& note) {
    const std::string kind = note.at("kind");
    if (kind == "end") {
      whole = true;
    } else if (kind == "host") {
      code.host_hertz = note.at("hertz");
    } else if (kind == "timing") {
      run_.clear();
    } else if (kind == "time") {
      run_[{note.at("of"), note.at("ordinal")}] = 1e-9 * note.at("nanoseconds").get<double>();
    } else if (kind == "timed") {
      for (const auto& [name, each] : run_)
        if (const auto [known, first] = seconds.try_emplace(name, each); !first) known->second = std::min(known->second, each);
    } else if (kind == "window") {
      windows_.push_back(note.at("blocks").get<std::vector<std::pair<std::uint64_t, std::uint32_t>>>());
    } else {
      const auto ordinal = note.at("ordinal").get<std::uint64_t>();
      if (kind == "function")
        take_function(ordinal, note);
      else if (kind == "block")
        take_block(ordinal, note);
      else if (kind == "place")
        take_place(ordinal, note);
      else
        take_stretch(stretches[{kind, ordinal}], note);
    }
  }
  void take_function(std::uint64_t ordinal, const nlohmann::json& note) {
    Function function = function_of(note);
    if (function.recorded == RecordedOfCall::heap) {  // the heap model has its time
      functions[ordinal] = function;
      return;
    }
    CodeBlock block;
    block.stepped = true;
    block.function = function.name, block.library = function.library;
    // The time of a call whose accesses are recorded has the memory's part in it.
    if (function.recorded == RecordedOfCall::nothing) block.nanoseconds = note.value("nanoseconds", 0.0);
    if (const auto steps = note.find("code"); steps != note.end())
      for (const auto& step : *steps) block.bytes += bytes_of(step.get<std::string>());
    block.instructions = static_cast<std::uint32_t>(std::lround(function.instructions));
    code.blocks.push_back(std::move(block));
    function.block = static_cast<std::uint32_t>(code.blocks.size());
    functions[ordinal] = function;
  }
  void take_block(std::uint64_t ordinal, const nlohmann::json& note) {
    place_[ordinal] = static_cast<std::uint32_t>(code.blocks.size());
    if (const auto called = note.find("calls"); called != note.end()) calls_[ordinal] = called->get<std::uint64_t>();
    CodeBlock block;
    block.bytes = bytes_of(note.at("bytes"));
    block.instructions = note.at("instructions");
    block.address = note.at("address");
    block.file = source_of(note.at("file")), block.line = note.at("line");
    code.blocks.push_back(std::move(block));
  }
  void take_place(std::uint64_t ordinal, const nlohmann::json& note) {
    if (const auto file = note.find("file"); file != note.end()) file_of_place_ = source_of(*file);
    const auto block = place_.find(ordinal);
    if (block == place_.end()) return;
    code.places.push_back({.block = block->second, .instruction = note.at("instruction"), .file = file_of_place_, .line = note.at("line")});
  }
  // No folders of the host.
  static std::string source_of(const nlohmann::json& name) { return valid_utf8(source_name(bytes_of_characters(name))); }
  // More than once where the program tried to leave.
  static void take_stretch(Stretch& stretch, const nlohmann::json& note) {
    stretch.work += work_of(note);
    const auto blocks = note.find("blocks");
    if (blocks == note.end()) return;  // a twin of an older homenode
    for (const auto& [block, executions, mispredictions] : blocks->get<std::vector<std::tuple<std::uint32_t, double, double>>>()) {
      stretch.blocks[block].executions += executions;
      stretch.blocks[block].mispredictions += mispredictions;
    }
  }
  void count_calls(Stretch& stretch) const {
    for (const auto& [block, count] : stretch.blocks)
      if (const auto called = calls_.find(block); called != calls_.end()) stretch.calls[called->second] += count.executions;
  }
  void renumber() {
    const auto earlier = [](const CodePlace& a, const CodePlace& b) {
      return std::tie(a.block, a.instruction) < std::tie(b.block, b.instruction);
    };
    std::sort(code.places.begin(), code.places.end(), earlier);
    for (const auto& [block, function] : calls_)
      if (const auto found = functions.find(function); found != functions.end()) code.blocks[place_.at(block)].calls = found->second.block;
    for (const auto& window : windows_) {
      CodeWindow& kept = code.windows.emplace_back();
      for (const auto& [block, times] : window) kept.blocks.push_back(place_.at(block)), kept.times.push_back(times);
    }
    for (auto& [name, stretch] : stretches) {
      std::map<std::uint32_t, Ran::Block> blocks;
      for (const auto& [block, count] : stretch.blocks)
        if (const auto place = place_.find(block); place != place_.end()) blocks[place->second] = count;
      stretch.blocks = std::move(blocks);
    }
  }
};

void TwinWork::note(const std::string& kind, std::uint64_t ordinal, Shares shares) {
  if (!shares.empty()) stretches_.push_back({kind, ordinal, std::move(shares)});
}

// Regions that share a stretch share their time. Nothing where a stretch lacks its time: the program did something else when it was timed.
std::vector<MeasuredTime> TwinWork::times(const Counted& counted) const {
  if (!is_whole_) return {};
  std::map<RegionId, RegionId> parent;
  const auto first_of = [&](RegionId region) {
    while (parent.at(region) != region) region = parent.at(region);
    return region;
  };
  for (const Stretch& stretch : stretches_) {
    for (const Share& share : stretch.shares) parent.try_emplace(share.region, share.region);
    for (const Share& share : stretch.shares) {
      const RegionId one = first_of(share.region), other = first_of(stretch.shares.front().region);
      parent[std::max(one, other)] = std::min(one, other);
    }
  }
  std::map<RegionId, MeasuredTime> groups;
  for (const auto& [region, above] : parent) groups[first_of(region)].regions.push_back(region);
  for (const Stretch& stretch : stretches_) {
    const auto found = counted.seconds.find({stretch.kind, stretch.ordinal});
    if (found == counted.seconds.end()) return {};
    groups[first_of(stretch.shares.front().region)].seconds += found->second;
  }
  std::vector<MeasuredTime> result;
  for (auto& [first, group] : groups) result.push_back(std::move(group));
  return result;
}

TwinWork::Rates TwinWork::rates(const std::filesystem::path& path) const {
  Rates result;
  std::ifstream file{path};
  if (!file) throw InputError(path.string() + ": work counts cannot be read");
  Counted counted{file};
  if (counted.stretches.empty() && !counted.whole) return result;
  if (!counted.whole)
    result.losses.push_back({SiteId{0}, "the work counts of the twin end early: it was killed, or became another program", 1});

  std::map<RegionId, Sum> sums;
  std::uint64_t without = 0;
  for (const Stretch& stretch : stretches_) {
    const auto work = counted.stretches.find({stretch.kind, stretch.ordinal});
    if (work == counted.stretches.end()) {
      ++without;
      continue;
    }
    work->second.placed = true;
    std::uint64_t total = 0;
    for (const Share& share : stretch.shares) total += share.weight();
    for (const Share& share : stretch.shares) {
      const double part =
          total == 0 ? 1.0 / static_cast<double>(stretch.shares.size()) : static_cast<double>(share.weight()) / static_cast<double>(total);
      Sum& sum = sums[share.region];
      sum.add(work->second, part);
      sum.accesses += share.accesses;
      sum.iterations += share.iterations;
      sum.is_serial |= stretch.kind == "serial";
    }
  }
  for (const auto& [region, sum] : sums) {
    if (sum.work.instructions == 0) continue;
    // Serial code that records nothing is what asks not to be recorded, as the self-checks of the kernels: it takes no time.
    if (sum.accesses > 0)
      result.work[region].per_access = sum.work.scaled(1 / static_cast<double>(sum.accesses));
    else if (!sum.is_serial && sum.iterations > 0)
      result.work[region].per_iteration = sum.work.scaled(1 / static_cast<double>(sum.iterations));
  }
  if (without > 0) result.losses.push_back({SiteId{0}, "stretches of the program without work counts from its twin", without});

  result.executed = std::move(counted.code);
  for (const auto& [region, sum] : sums) {
    add_code(result.code, region, sum, counted.functions);
    for (const auto& [block, count] : sum.blocks)
      result.executed.counts.push_back(
          {.region = region, .block = block, .executions = count.executions, .mispredictions = count.mispredictions});
  }
  result.executed.times = times(counted);
  Sum elsewhere;
  for (const auto& [name, stretch] : counted.stretches)
    if (!stretch.placed) elsewhere.add(stretch, 1);
  add_code(result.code, RegionId::none(), elsewhere, counted.functions);
  return result;
}

}  // namespace homenode
