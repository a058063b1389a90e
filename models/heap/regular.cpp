// S2's comparison (section 5.2): "memory is simply divided among the threads". A chunk's lines in order, an equal part for each core.
#include "models/heap/line_blocks.hpp"
#include "models/heap/register.hpp"

namespace homenode {
namespace {

class Regular final : public LineBlocks {
public:
  explicit Regular(const Parameters& given) : LineBlocks{"regular", given} {}

private:
  void share_out(AddressRange chunk) override {
    const std::uint64_t lines = chunk.size() / line_bytes();
    for (std::uint64_t line = lines; line-- > 0;) give(chunk.first + line * line_bytes(), cores()[line * cores().size() / lines]);
  }
};

}  // namespace

PolicyEntry<HeapManager> regular_heap() {
  return {.name = "regular",
          .description =
              "blocks up to a cache line from large chunks that are divided among the cores in order; larger blocks as glibc (baseline of "
              "Gerofi et al.)",
          .parameters = LineBlocks::parameters(),
          .make = [](const Parameters& given) { return std::make_unique<Regular>(given); }};
}

}  // namespace homenode
