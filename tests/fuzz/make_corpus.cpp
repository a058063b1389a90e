// make_corpus FOLDER [TRACE...]: to start from, small traces of our own and those given, as files for trace_reader and as frames for
// trace_frames and trace_replay; small texts for trace_import; the descriptions that we ship for descriptions.
#include <fstream>
#include <iostream>

#include "tests/fuzz/sealed_frames.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/workloads.hpp"
#include "traces/format/trace_writer.hpp"

namespace {

using namespace homenode;

// The frames of a trace, for each target that takes frames.
void add_frames(const std::filesystem::path& trace, const std::filesystem::path& folder) {
  const std::vector<std::uint8_t> frames = fuzz::bytes_of(fuzz::frames_of(trace));
  for (const char* target : {"trace_frames", "trace_replay"}) {
    std::ofstream out{folder / target / trace.filename(), std::ios::binary};
    out.write(reinterpret_cast<const char*>(frames.data()), static_cast<std::streamsize>(frames.size()));
  }
}

void add_descriptions(const std::filesystem::path& folder) {
  unsigned first_byte = 0;
  for (const char* kind : {"machines", "systems", "energy"}) {
    for (const auto& entry : std::filesystem::directory_iterator{test::source_folder() / "models" / kind}) {
      if (entry.path().extension() != ".toml") continue;
      std::ofstream out{folder / entry.path().filename(), std::ios::binary};
      out << static_cast<char>('0' + first_byte) << std::ifstream{entry.path(), std::ios::binary}.rdbuf();
    }
    ++first_byte;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: make_corpus FOLDER [TRACE...]\n";
    return 2;
  }
  const std::filesystem::path folder{argv[1]};
  for (const char* target : {"trace_reader", "trace_frames", "trace_replay", "trace_import", "descriptions"})
    std::filesystem::create_directories(folder / target);
  unsigned number = 0;
  for (const auto& workload :
       {test::jacobi2d(12, 2), test::chase(20, 60, 2), test::gather(32, 16, 4), test::stream_triad(64, 4, 2, true), test::tasks(8)}) {
    const std::string name = "seed" + std::to_string(number++);
    write_trace(folder / "trace_reader" / name, *workload);
    add_frames(folder / "trace_reader" / name, folder);
  }
  for (int k = 2; k < argc; ++k) {
    const std::filesystem::path trace{argv[k]};
    std::filesystem::copy_file(trace, folder / "trace_reader" / trace.filename(), std::filesystem::copy_options::overwrite_existing);
    add_frames(trace, folder);
  }
  add_descriptions(folder / "descriptions");
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
