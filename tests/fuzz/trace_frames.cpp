// libFuzzer target: any frames whose checksums are right.
#include "tests/fuzz/mutate_frames.hpp"
#include "tests/fuzz/read_or_refuse.hpp"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  return homenode::fuzz::mutate_trace(data, size, most, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const homenode::fuzz::ScratchFile file;
  homenode::fuzz::seal(homenode::fuzz::frames_in(data, size), file.path());
  homenode::fuzz::read_or_refuse(file.path());
  return 0;
}
