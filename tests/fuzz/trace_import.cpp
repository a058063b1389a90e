// libFuzzer target: any text as what another tool recorded. The first byte chooses the form; what is written, if anything, is read again.
#include "tests/fuzz/read_or_refuse.hpp"
#include "traces/importers/import_trace.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace homenode;
  static const fuzz::ScratchFile input{"txt"}, output{"hnt"};
  if (size == 0) return 0;
  input.put(data + 1, size - 1);
  const ImportOptions options{.input = input.path(), .output = output.path(), .progress = {}};
  try {
    if (data[0] % 2 == 0)
      import_lackey(options);
    else
      import_csv(options);
  } catch (const InputError&) { return 0; }
  if (!fuzz::read_or_refuse(output.path())) __builtin_trap();  // what an importer writes, the reader takes
  return 0;
}
