// Any bytes as a trace file: they are read, or refused with an InputError; nothing else.
// Built by clang with -fsanitize=fuzzer this is a libFuzzer target; tests/unit/traces_format runs it over mutated traces.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "sim/errors.hpp"
#include "traces/format/trace_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto path = std::filesystem::temp_directory_path() / ("homenode-fuzz-" + std::to_string(::getpid()) + ".hnt");
  std::ofstream{path, std::ios::binary}.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  try {
    const homenode::TraceFile file{path};
    for (std::size_t e = 0; e < file.executions.size(); ++e) {
      file.body(homenode::ExecutionId{e});
      file.origins(homenode::ExecutionId{e});
    }
  } catch (const homenode::InputError&) {}
  std::filesystem::remove(path);
  return 0;
}
