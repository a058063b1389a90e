// The fuzz targets' code over fixed mutations: of whole files, and of what is in their frames, sealed again with right checksums
// so that the mutations reach the decoders.
#include <gtest/gtest.h>

#include <random>

#include "tests/fuzz/read_or_refuse.hpp"
#include "tests/fuzz/sealed_frames.hpp"
#include "tests/support/workloads.hpp"
#include "traces/format/trace_writer.hpp"

namespace homenode {
namespace {

using Bytes = std::vector<std::uint8_t>;

// One to three bytes replaced, filled, dropped or put in.
void mutate(Bytes& bytes, std::mt19937& random) {
  for (unsigned k = 0; k <= random() % 3 && !bytes.empty(); ++k) {
    const std::size_t at = random() % bytes.size();
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    switch (random() % 4) {
      case 0: *place = static_cast<std::uint8_t>(random()); break;
      case 1: *place = 0xFF; break;
      case 2: bytes.erase(place); break;
      default: bytes.insert(place, static_cast<std::uint8_t>(random())); break;
    }
  }
}

struct Outcomes {
  unsigned refused = 0, read = 0;
};
Outcomes fuzz_frames(unsigned rounds) {
  const fuzz::ScratchFile file;
  std::mt19937 random{1};
  Outcomes outcomes;
  for (const auto& workload : {test::jacobi2d(12, 2), test::chase(20, 60, 2), test::gather(32, 16, 4)}) {
    write_trace(file.path(), *workload);
    const Bytes good = fuzz::bytes_of(fuzz::frames_of(file.path()));
    fuzz::seal(fuzz::frames_in(good.data(), good.size()), file.path());
    EXPECT_TRUE(fuzz::read_or_refuse(file.path()));  // sealing alone changes nothing
    for (unsigned round = 0; round < rounds; ++round) {
      Bytes bad = good;
      mutate(bad, random);
      fuzz::seal(fuzz::frames_in(bad.data(), bad.size()), file.path());
      ++(fuzz::read_or_refuse(file.path()) ? outcomes.read : outcomes.refused);
    }
  }
  return outcomes;
}

TEST(TraceReader, ReadsOrRefusesWhateverIsInTheFrames) {
  const Outcomes outcomes = fuzz_frames(2000);
  EXPECT_GT(outcomes.refused, 500u);
  EXPECT_GT(outcomes.read, 0u);  // a mutated name, for instance, is another name
}

TEST(TraceReader, RefusesMutatedFiles) {
  // header and payload of every frame are under a checksum: none is read that is not the file that was written
  const fuzz::ScratchFile file;
  write_trace(file.path(), *test::jacobi2d(12, 2));
  std::ifstream in{file.path(), std::ios::binary};
  const Bytes good{std::istreambuf_iterator<char>{in}, {}};
  std::mt19937 random{2};
  for (unsigned round = 0; round < 500; ++round) {
    Bytes bad = good;
    mutate(bad, random);
    file.put(bad.data(), bad.size());
    EXPECT_EQ(fuzz::read_or_refuse(file.path()), bad == good) << "round " << round;
  }
}

}  // namespace
}  // namespace homenode
