// libFuzzer target: any text as a description. The first byte chooses: a machine, an operating system, energy. What is read as a machine
// is written again, and that reads as the same machine.
#include <cstdint>

#include "models/energy/energy_file.hpp"
#include "models/machines/machine_writer.hpp"
#include "models/systems/system_file.hpp"
#include "sim/base/errors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace homenode;
  if (size == 0) return 0;
  const std::string_view text{reinterpret_cast<const char*>(data + 1), size - 1};
  MachineFile file;
  try {
    if (data[0] % 3 == 1) return parse_system(text, "fuzz.toml"), 0;
    if (data[0] % 3 == 2) return parse_energy_file(text, "fuzz.toml"), 0;
    file = parse_machine(text, "fuzz.toml");
  } catch (const InputError&) { return 0; }
  const std::string written = write_machine_toml(file.machine, file.parameters, file.sources);
  if (parse_machine(written, "written.toml").machine.hash != file.machine.hash) __builtin_trap();
  return 0;
}
