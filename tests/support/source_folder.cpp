#include "tests/support/source_folder.hpp"

namespace homenode::test {

std::filesystem::path source_folder() { return HOMENODE_SOURCE_DIR; }

}  // namespace homenode::test
