// Names of functions and variables as their programmers wrote them: regions are called by them on command lines, so they have no spaces.
#pragma once

#include <string>

namespace homenode {

// C++ symbols are demangled, without parameters and result (`grid::sweep`, `apply<int>`); Fortran's module procedures and variables become
// `module::name`; in a program whose main program is Fortran, procedures lose their final underscore and the main program is `main`.
// gcc's suffix of a clone (`.isra.0`) is removed; its suffix of an outlined body (`._omp_fn.0`) stays.
// Any other symbol is its own name.
std::string readable_name(const std::string& symbol, bool fortran_program);

// What of a text is not UTF-8 becomes `\xe9`, as Python writes such bytes: a trace's text is UTF-8. File names and arguments need not be.
std::string as_utf8(std::string text);

}  // namespace homenode
