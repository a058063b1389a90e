#include "traces/capture/assembler/work.hpp"

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/base/errors.hpp"
#include "traces/capture/assembler/names.hpp"

namespace homenode {

namespace {

// What an instruction count of one call is, by the twin's number of the function.
struct Function {
  std::string name, library;
  RecordedOfCall recorded = RecordedOfCall::nothing;
  InstructionBasis basis = InstructionBasis::none;
  double instructions = 0;
  std::uint64_t samples = 0;
};

struct Sum {
  WorkCounts work;
  std::uint64_t accesses = 0;
  std::map<std::uint64_t, double> calls;  // by the function's number

  void add(const WorkCounts& counted, const std::map<std::uint64_t, double>& called, double part) {
    work += counted.scaled(part);
    for (const auto& [function, number] : called) calls[function] += part * number;
  }
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

// The twin's file.
struct TwinWork::Counted {
  struct Stretch {
    WorkCounts work;
    std::map<std::uint64_t, double> calls;
    bool placed = false;
  };
  std::map<std::pair<std::string, std::uint64_t>, Stretch> stretches;
  std::map<std::uint64_t, Function> functions;
  bool whole = false;

  explicit Counted(std::istream& file) {
    for (std::string line; std::getline(file, line);) {
      if (line.empty() || file.eof()) continue;  // a line without its end was cut
      const auto note = nlohmann::json::parse(line);
      const std::string kind = note.at("kind");
      if (kind == "end") {
        whole = true;
        continue;
      }
      const auto ordinal = note.at("ordinal").get<std::uint64_t>();
      if (kind == "function") {
        functions[ordinal] = function_of(note);
        continue;
      }
      Stretch& stretch = stretches[{kind, ordinal}];
      stretch.work += work_of(note);  // more than once where the program tried to leave
      if (const auto calls = note.find("calls"); calls != note.end())
        for (const auto& call : *calls) stretch.calls[call.at(0).get<std::uint64_t>()] += call.at(1).get<double>();
    }
  }
};

void TwinWork::note(const std::string& kind, std::uint64_t ordinal, Shares shares) {
  if (!shares.empty()) stretches_.push_back({kind, ordinal, std::move(shares)});
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
    for (const auto& [region, accesses] : stretch.shares) total += accesses;
    for (const auto& [region, accesses] : stretch.shares) {
      const double part =
          total == 0 ? 1.0 / static_cast<double>(stretch.shares.size()) : static_cast<double>(accesses) / static_cast<double>(total);
      sums[region].add(work->second.work, work->second.calls, part);
      sums[region].accesses += accesses;
    }
  }
  for (const auto& [region, sum] : sums) {
    if (sum.work.instructions == 0 || sum.accesses == 0) continue;
    result.per_access[region] = sum.work.scaled(1 / static_cast<double>(sum.accesses));
  }
  if (without > 0) result.losses.push_back({SiteId{0}, "stretches of the program without work counts from its twin", without});

  for (const auto& [region, sum] : sums) add_code(result.code, region, sum, counted.functions);
  Sum elsewhere;
  for (const auto& [name, stretch] : counted.stretches)
    if (!stretch.placed) elsewhere.add(stretch.work, stretch.calls, 1);
  add_code(result.code, RegionId::none(), elsewhere, counted.functions);
  return result;
}

}  // namespace homenode
