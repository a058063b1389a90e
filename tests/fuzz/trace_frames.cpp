// libFuzzer target: any bytes in frames whose checksums are right.
#include "tests/fuzz/read_or_refuse.hpp"
#include "tests/fuzz/sealed_frames.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const homenode::fuzz::ScratchFile file;
  homenode::fuzz::seal(data, size, file.path());
  homenode::fuzz::read_or_refuse(file.path());
  return 0;
}
