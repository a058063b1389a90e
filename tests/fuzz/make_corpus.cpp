// make_corpus FOLDER [TRACE...]: to start from, small traces of our own and those given, as files for trace_reader and as frames for
// trace_frames; small texts for trace_import.
#include <fstream>
#include <iostream>

#include "tests/fuzz/sealed_frames.hpp"
#include "tests/support/workloads.hpp"
#include "traces/format/trace_writer.hpp"

namespace {

using namespace homenode;

// One file with the frames of a trace; libFuzzer mutates small inputs best.
void add_frames(const std::filesystem::path& trace, const std::filesystem::path& target) {
  const auto frames = fuzz::unsealed(trace);
  std::ofstream{target, std::ios::binary}.write(reinterpret_cast<const char*>(frames.data()), static_cast<std::streamsize>(frames.size()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: make_corpus FOLDER [TRACE...]\n";
    return 2;
  }
  const std::filesystem::path folder{argv[1]};
  for (const char* target : {"trace_reader", "trace_frames", "trace_import"}) std::filesystem::create_directories(folder / target);
  unsigned number = 0;
  for (const auto& workload :
       {test::jacobi2d(12, 2), test::chase(20, 60, 2), test::gather(32, 16, 4), test::stream_triad(64, 4, 2, true), test::tasks(8)}) {
    const std::string name = "seed" + std::to_string(number++);
    write_trace(folder / "trace_reader" / name, *workload);
    add_frames(folder / "trace_reader" / name, folder / "trace_frames" / name);
  }
  for (int k = 2; k < argc; ++k) {
    const std::filesystem::path trace{argv[k]};
    std::filesystem::copy_file(trace, folder / "trace_reader" / trace.filename(), std::filesystem::copy_options::overwrite_existing);
    add_frames(trace, folder / "trace_frames" / trace.filename());
  }
  // An even first byte: lackey; an odd one: CSV.
  std::ofstream{folder / "trace_import" / "lackey"}
      << "0==7== Command: ./a b\nI  401000,4\n L 1ffeff0,8\nI  401004,4\n S 1fff000,8\n M 10,2\n";
  std::ofstream{folder / "trace_import" / "serial"} << "1address,size,kind\n0x1000,8,read\n0x1008,8,write\n4096,4,modify\n";
  std::ofstream{folder / "trace_import" / "items"}
      << "1item,address,size,kind,site\n0,4096,8,write,1\n0,4104,8,write,1\n1,4112,8,write,1\n3,8192,1,atomic,2\n";
  std::ofstream{folder / "trace_import" / "threads"}
      << "1thread,sequence,address,size,kind\n5,0,4096,8,write\n2,0,4160,8,read\n5,1,4104,8,write\n2,1,4096,8,read\n";
  return 0;
}
