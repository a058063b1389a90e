#include "sim/program/footprint.hpp"

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace homenode {
namespace {

constexpr std::uint64_t line = 64;

struct Piece {
  SlotNumber slot;
  std::int64_t offset;
  std::uint64_t extent;  // from the first byte to the last
  std::uint64_t bytes;   // touched within it
};

Piece piece_of(const AccessRun& run) {
  std::vector<RunDimension> dimensions(run.dimension.begin(), run.dimension.begin() + run.dimensions);
  std::sort(dimensions.begin(), dimensions.end(),
            [](const RunDimension& a, const RunDimension& b) { return std::llabs(a.stride) < std::llabs(b.stride); });
  std::uint64_t extent = run.width, bytes = run.width;
  std::int64_t low = run.offset;
  for (const RunDimension& dimension : dimensions) {
    const auto stride = static_cast<std::uint64_t>(std::llabs(dimension.stride));
    const std::uint64_t reach = stride * (dimension.count - 1);
    if (dimension.stride < 0) low -= static_cast<std::int64_t>(reach);
    bytes = stride < extent ? std::min(bytes * dimension.count, bytes + reach) : bytes * dimension.count;
    extent += reach;
  }
  return {run.slot, low, extent, std::min(bytes, extent)};
}

}  // namespace

std::uint64_t footprint_bytes(const ItemPattern& pattern) {
  std::vector<Piece> pieces;
  for (const AccessRun& run : pattern.runs) pieces.push_back(piece_of(run));
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
    return std::tie(a.slot, a.offset, a.extent, a.bytes) < std::tie(b.slot, b.offset, b.extent, b.bytes);
  });
  std::uint64_t total = 0;
  std::int64_t covered = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    const std::int64_t end = piece.offset + static_cast<std::int64_t>(piece.extent);
    const bool overlaps = i > 0 && pieces[i - 1].slot == piece.slot && piece.offset < covered;
    if (!overlaps) {
      total += piece.bytes;
      covered = end;
    } else if (end > covered) {
      total += std::min<std::uint64_t>(piece.bytes, static_cast<std::uint64_t>(end - covered));
      covered = end;
    }
  }
  for (const IrregularStream& stream : pattern.streams) total += line * stream.offset.size();
  return total;
}

std::uint64_t traversed_bytes(const ItemPattern& pattern) {
  std::uint64_t total = 0;
  for (const AccessRun& run : pattern.runs) {
    std::uint64_t times = 1, extent = run.width;
    for (unsigned d = 0; d < run.dimensions; ++d) {
      if (d == 0)
        extent +=
            std::min<std::uint64_t>(static_cast<std::uint64_t>(std::llabs(run.dimension[d].stride)), line) * (run.dimension[d].count - 1);
      else
        times *= run.dimension[d].count;
    }
    total += times * extent;
  }
  for (const IrregularStream& stream : pattern.streams) total += line * stream.offset.size();
  return total;
}

}  // namespace homenode
