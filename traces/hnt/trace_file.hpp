// Reads a .hnt file: tables at once, bodies of executions when they are asked for.
#pragma once

#include <filesystem>
#include <memory>

#include "sim/workload.hpp"

namespace homenode {

// Throws InputError: file, offset of the frame, what was found, what is allowed. A file without an index (its writer was
// killed) is refused; recover_trace says what to do with it.
std::shared_ptr<Workload> open_trace(const std::filesystem::path&);

// Completes a file that ends after some whole frame: writes tables and index anew, marked truncated, to `to`.
// Returns how many executions were kept.
std::size_t recover_trace(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace homenode
