#include "models/core/vector_clock.hpp"

#include <algorithm>
#include <array>

namespace homenode {
namespace {

// How mnemonics of heavy instructions begin. Integer additions and the like are vpadd, vpsub, vpmax: none of these.
constexpr std::array<std::string_view, 18> heavy{"vadd",  "vsub", "vmul",   "vdiv", "vsqrt", "vfm",  "vfnm",  "vfc",    "vhadd",
                                                 "vhsub", "vdp",  "vrsqrt", "vrcp", "vmax",  "vmin", "vpmul", "vpmadd", "vpdp"};

// The first word, but for prefixes that LLVM prints ("{vex}").
std::string_view mnemonic(std::string_view text) {
  while (true) {
    const auto begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    const auto end = std::min(text.find_first_of(" \t", begin), text.size());
    if (text[begin] != '{') return text.substr(begin, end - begin);
    text.remove_prefix(end);
  }
}

}  // namespace

VectorWidth clock_that_is_asked_for(std::string_view text) {
  // Registers zmm0 and ymm0, operands in memory as "zmmword ptr" and "ymmword ptr".
  const bool has_512 = text.find("zmm") != std::string_view::npos;
  if (!has_512 && text.find("ymm") == std::string_view::npos) return VectorWidth::narrow;
  const std::string_view name = mnemonic(text);
  const bool is_heavy = std::any_of(heavy.begin(), heavy.end(), [&](std::string_view begin) { return name.starts_with(begin); });
  if (is_heavy) return has_512 ? VectorWidth::bits_512 : VectorWidth::bits_256;
  return has_512 ? VectorWidth::bits_256 : VectorWidth::narrow;
}

}  // namespace homenode
