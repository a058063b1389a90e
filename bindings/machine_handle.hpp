// A machine as Python holds it: with what is known about each of its values.
#pragma once

#include "models/machines/machine_file.hpp"

namespace homenode::python {

struct MachineHandle {
  MachineFile file;
};

}  // namespace homenode::python
