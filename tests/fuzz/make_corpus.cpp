// make_corpus FOLDER: small traces to start from, as files for trace_reader and as frames for trace_frames.
#include <fstream>
#include <iostream>

#include "tests/fuzz/sealed_frames.hpp"
#include "tests/support/workloads.hpp"
#include "traces/format/trace_writer.hpp"

int main(int argc, char** argv) {
  using namespace homenode;
  if (argc != 2) {
    std::cerr << "usage: make_corpus FOLDER\n";
    return 2;
  }
  const std::filesystem::path folder{argv[1]};
  std::filesystem::create_directories(folder / "trace_reader");
  std::filesystem::create_directories(folder / "trace_frames");
  unsigned number = 0;
  for (const auto& workload :
       {test::jacobi2d(12, 2), test::chase(20, 60, 2), test::gather(32, 16, 4), test::stream_triad(64, 4, 2, true)}) {
    const std::string name = "seed" + std::to_string(number++);
    const auto trace = folder / "trace_reader" / name;
    write_trace(trace, *workload);
    const auto frames = fuzz::unsealed(trace);
    std::ofstream{folder / "trace_frames" / name, std::ios::binary}.write(reinterpret_cast<const char*>(frames.data()),
                                                                          static_cast<std::streamsize>(frames.size()));
  }
  return 0;
}
