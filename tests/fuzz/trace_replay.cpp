// libFuzzer target: what the reader takes can be summarised and replayed, or is refused by name; nothing else.
#include "models/run/run.hpp"
#include "tests/fuzz/mutate_frames.hpp"
#include "tests/fuzz/read_or_refuse.hpp"
#include "tests/support/machines.hpp"
#include "traces/format/trace_summary.hpp"

namespace {

using namespace homenode;

// Small enough that a replay takes milliseconds, whatever the numbers in the file.
bool is_small(const TraceFile& file) {
  std::uint64_t work = 0, bytes = 0;
  for (const Execution& execution : file.executions) {
    if (execution.iterations > 4096 || execution.accesses > 65536) return false;
    work += static_cast<std::uint64_t>(execution.iterations) + execution.accesses;
  }
  for (const TracedObject& object : file.objects) {
    if (object.bytes > (1u << 20) || object.alignment > (1u << 16)) return false;
    bytes += object.bytes;
  }
  return work < (1u << 17) && bytes < (1u << 24) && file.executions.size() < 256 && file.patterns.size() < 256;
}

void summarise_and_replay(const std::filesystem::path& path) {
  try {
    const TraceFile file{path};
    if (!is_small(file)) return;
    summarize(file);
    static const Machine machine = test::machine("fuzz", 2, 4, {{0, 1}});
    RunSpec spec;
    spec.threads = 4;
    run(file, machine, spec);
  } catch (const Error&) { return; }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  return fuzz::mutate_trace(data, size, most, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::ScratchFile file;
  fuzz::seal(fuzz::frames_in(data, size), file.path());
  summarise_and_replay(file.path());
  return 0;
}
