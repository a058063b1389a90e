// Where the project's files are.
#pragma once

#include <filesystem>

namespace homenode::test {

std::filesystem::path source_folder();

}  // namespace homenode::test
