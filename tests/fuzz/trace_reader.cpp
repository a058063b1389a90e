// libFuzzer target: any bytes as a trace file.
#include "tests/fuzz/read_or_refuse.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const homenode::fuzz::ScratchFile file;
  file.put(data, size);
  homenode::fuzz::read_or_refuse(file.path());
  return 0;
}
