// What a placement written in Python asks about mapped pages, and does to them.
#pragma once

#include <cstdint>
#include <vector>

#include "bindings/bindings.hpp"
#include "sim/policy/page_placement.hpp"

namespace homenode::python {

// Many pages a call. Valid during the call that it is given to; afterwards a UsageError.
class MappedPages {
public:
  explicit MappedPages(PageActions& actions) : actions_{&actions} {}
  void end() { actions_ = nullptr; }
  PageActions& actions() const;

private:
  PageActions* actions_;
};

void bind_mapped_pages(pybind11::module_&);

}  // namespace homenode::python
