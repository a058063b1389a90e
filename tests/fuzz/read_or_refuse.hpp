// What every fuzz target holds the reader to: a file is read to its last body, or refused with an InputError; nothing else.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "sim/base/errors.hpp"
#include "traces/format/trace_file.hpp"

namespace homenode::fuzz {

// Whether the file was read.
inline bool read_or_refuse(const std::filesystem::path& path) {
  try {
    const TraceFile file{path};
    for (std::size_t e = 0; e < file.executions.size(); ++e) {
      file.body(ExecutionId{e});
      file.origins(ExecutionId{e});
    }
    return true;
  } catch (const InputError&) { return false; }
}

// A file of this process alone, gone with the object; in memory where the system offers that, since the writer waits for disks.
class ScratchFile {
public:
  explicit ScratchFile(const std::string& suffix = "hnt") {
    const std::filesystem::path memory{"/dev/shm"};
    const bool usable = ::access(memory.c_str(), W_OK) == 0;
    path_ = (usable ? memory : std::filesystem::temp_directory_path()) / ("homenode-fuzz-" + std::to_string(::getpid()) + "." + suffix);
  }
  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  const std::filesystem::path& path() const { return path_; }
  void put(const std::uint8_t* data, std::size_t size) const {
    std::ofstream{path_, std::ios::binary}.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  }

private:
  std::filesystem::path path_;
};

}  // namespace homenode::fuzz
