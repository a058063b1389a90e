// The fuzz target over traces that are damaged in a way that checksums do not show: frames are unpacked, mutated and sealed
// again, so that the mutations reach the decoders.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "sim/errors.hpp"
#include "tests/support/workloads.hpp"
#include "traces/format/frame.hpp"
#include "traces/format/trace_file.hpp"
#include "traces/format/trace_writer.hpp"

#include "tests/fuzz/trace_reader.cpp"

namespace homenode {
namespace {

std::string content(const std::filesystem::path& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

TEST(TraceReader, ReadsOrRefusesWhateverIsInTheFrames) {
  const auto folder = std::filesystem::temp_directory_path() / ("homenode-fuzz-folder-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const auto good = folder / "good.hnt", bad = folder / "bad.hnt";
  unsigned refused = 0, read = 0;
  std::mt19937 random{1};
  for (const auto& workload : {test::jacobi2d(12, 2), test::chase(20, 60, 2), test::gather(32, 16, 4)}) {
    write_trace(good, *workload);
    std::vector<format::Frame> frames;
    format::FrameReader{good}.walk([](std::uint16_t) { return true; }, [&](const format::Frame& frame) { frames.push_back(frame); });
    for (unsigned round = 0; round < 300; ++round) {
      {
        format::FrameWriter writer{bad};
        const std::size_t chosen = random() % frames.size();
        std::uint64_t last = 0;
        for (std::size_t f = 0; f < frames.size(); ++f) {
          std::vector<std::uint8_t> raw = frames[f].raw;
          if (f == chosen && !raw.empty()) {
            for (unsigned k = 0; k <= random() % 3; ++k) {
              const std::size_t at = random() % raw.size();
              switch (random() % 4) {
                case 0:
                  raw[at] = static_cast<std::uint8_t>(random());
                  break;
                case 1:
                  raw[at] = 0xFF;
                  break;
                case 2:
                  raw.erase(raw.begin() + static_cast<std::ptrdiff_t>(at));
                  break;
                default:
                  raw.insert(raw.begin() + static_cast<std::ptrdiff_t>(at), static_cast<std::uint8_t>(random()));
                  break;
              }
              if (raw.empty()) break;
            }
          }
          last = writer.write(frames[f].type, raw, frames[f].critical);
        }
        writer.finish(last);
      }
      const std::string bytes = content(bad);
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      try {
        open_trace(bad);
        ++read;
      } catch (const InputError&) { ++refused; }
    }
  }
  std::filesystem::remove_all(folder);
  EXPECT_GT(refused, 300u);
  EXPECT_GT(read, 0u);  // a mutated name, for instance, is another name
}

}  // namespace
}  // namespace homenode
