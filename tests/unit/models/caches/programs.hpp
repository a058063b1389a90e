// Programs for the cache tests, each in two independent forms: runs for the model and a walk over words for the oracle.
#pragma once

#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "models/caches/run_lru.hpp"
#include "sim/program/line_touches.hpp"
#include "sim/program/workload.hpp"

namespace homenode::test {

inline constexpr std::uint64_t base_address = std::uint64_t{1} << 32;

inline AccessRun run(SlotNumber slot, AccessKind kind, std::int64_t offset, std::uint64_t sequence, std::vector<RunDimension> dimensions,
                     bool streamable = false, std::uint16_t width = 8) {
  AccessRun result;
  result.slot = slot;
  result.width = width;
  result.kind = kind;
  result.offset = offset;
  result.sequence = sequence;
  result.streamable = streamable;
  result.dimensions = static_cast<std::uint8_t>(dimensions.size());
  std::copy(dimensions.begin(), dimensions.end(), result.dimension.begin());
  return result;
}

struct Program {
  std::vector<ItemPattern> patterns;
  ExecutionBody body;
  std::int64_t iterations() const { return body.blocks.empty() ? 0 : body.blocks.back().last; }
};

struct Totals {
  std::uint64_t reads = 0, writebacks = 0, non_temporal = 0, transfers = 0, upgrades = 0, accesses = 0;
  std::vector<std::uint64_t> hits;
  std::uint64_t memory() const { return reads + writebacks + non_temporal; }
  void add(const CacheOutcome& outcome) {
    for (const auto& range : outcome.reads) reads += range.lines.size();
    for (const auto& range : outcome.writebacks) writebacks += range.size();
    for (const auto& range : outcome.written_earlier) writebacks += range.size();
    for (const auto& range : outcome.non_temporal_writes) non_temporal += range.size();
    for (const auto& range : outcome.transfers) transfers += range.lines.size();
    upgrades += outcome.upgrades;
    accesses += outcome.accesses;
    hits.resize(std::max(hits.size(), outcome.hit_lines.size()), 0);
    for (std::size_t level = 0; level < outcome.hit_lines.size(); ++level) hits[level] += outcome.hit_lines[level];
  }
};

// Object k lies at base_address + bases[k].
inline void replay(CacheModel& model, CoreId core, const Program& program, std::int64_t first, std::int64_t last,
                   const LineTouchOptions& options, const std::vector<std::uint64_t>& bases, Totals& totals) {
  LineTouches touches{options};
  touches.start(program.patterns, program.body, first, last,
                [&](ObjectId object) { return Address{base_address + bases[object.index()]}; });
  std::vector<LineTouch> group;
  CacheOutcome outcome;
  while (touches.next(group)) {
    outcome.clear();
    model.access(core, group, outcome);
    totals.add(outcome);
  }
}
inline void flush(CacheModel& model, Totals& totals) {
  CacheOutcome outcome;
  model.flush(outcome);
  totals.add(outcome);
}

// Five-point stencil on n x n elements of `width` bytes; iteration i is row i + 1. Objects: 0 source, 1 target, 2 power.
inline Program stencil(std::uint32_t n, std::uint16_t width, bool power, std::uint32_t source, std::uint32_t target) {
  Program program;
  ItemPattern pattern;
  const std::int64_t row = std::int64_t{width} * n, first = row + width;
  std::vector<std::int64_t> offsets{first, first - width, first + width, first - row, first + row};
  const std::uint32_t accesses = power ? 7 : 6;
  const std::vector<RunDimension> inner{{n - 2, width, accesses}};
  std::uint64_t sequence = 0;
  for (const auto offset : offsets) pattern.runs.push_back(run(0, AccessKind::read, offset, sequence++, inner, false, width));
  if (power) pattern.runs.push_back(run(2, AccessKind::read, first, sequence++, inner, false, width));
  pattern.runs.push_back(run(1, AccessKind::write, first, sequence++, inner, false, width));
  pattern.accesses = std::uint64_t{accesses} * (n - 2);
  pattern.slots = power ? 3 : 2;
  ItemBlock block{0, n - 2, PatternId{0u}, {{ObjectId{source}, 0, row}, {ObjectId{target}, 0, row}}};
  if (power) block.slots.push_back({ObjectId{2u}, 0, row});
  program.patterns.push_back(pattern);
  program.body.blocks.push_back(block);
  return program;
}
template <class Read, class Write>
void walk_stencil_row(std::uint64_t n, std::uint64_t width, std::uint64_t source, std::uint64_t target, const std::uint64_t* power,
                      std::uint64_t i, Read&& read, Write&& write) {
  for (std::uint64_t j = 1; j < n - 1; ++j) {
    read(source + width * (i * n + j));
    read(source + width * (i * n + j - 1));
    read(source + width * (i * n + j + 1));
    read(source + width * ((i - 1) * n + j));
    read(source + width * ((i + 1) * n + j));
    if (power) read(*power + width * (i * n + j));
    write(target + width * (i * n + j));
  }
}

// The same sweep (with power) by square blocks, as Rodinia's hotspot does it: one iteration a block, row by row of blocks.
// n - 2 is a multiple of `block`.
inline Program blocked_stencil(std::uint32_t n, std::uint16_t width, std::uint32_t block, std::uint32_t source, std::uint32_t target) {
  Program program;
  ItemPattern pattern;
  const std::int64_t row = std::int64_t{width} * n, first = row + width;
  const std::vector<RunDimension> nest{{block, width, 7}, {block, row, 7 * block}};
  std::uint64_t sequence = 0;
  for (const auto offset : {first, first - width, first + width, first - row, first + row})
    pattern.runs.push_back(run(0, AccessKind::read, offset, sequence++, nest, false, width));
  pattern.runs.push_back(run(2, AccessKind::read, first, sequence++, nest, false, width));
  pattern.runs.push_back(run(1, AccessKind::write, first, sequence++, nest, false, width));
  pattern.accesses = std::uint64_t{7} * block * block;
  pattern.slots = 3;
  program.patterns.push_back(pattern);
  const std::int64_t blocks = (n - 2) / block, step = std::int64_t{width} * block;
  for (std::int64_t i = 0; i < blocks; ++i) {
    const std::int64_t start = i * block * row;
    program.body.blocks.push_back({i * blocks,
                                   (i + 1) * blocks,
                                   PatternId{0u},
                                   {{ObjectId{source}, start, step}, {ObjectId{target}, start, step}, {ObjectId{2u}, start, step}}});
  }
  return program;
}

// S4's six-point Jacobi: doubles, blocks of bi x bj x bk collapsed over i, j, k with k fastest; one iteration a block.
struct Lattice {
  std::int64_t ni, nj, nk, bi, bj, bk;
  struct Box {
    std::int64_t i0, i1, j0, j1, k0, k1;
  };
  std::int64_t blocks() const { return ni / bi * (nj / bj) * (nk / bk); }
  Box box(std::int64_t n) const {
    const std::int64_t k = n % (nk / bk) * bk, j = n / (nk / bk) % (nj / bj) * bj, i = n / (nk / bk * (nj / bj)) * bi;
    return {std::max<std::int64_t>(i, 1), std::min(i + bi, ni - 1),     std::max<std::int64_t>(j, 1),
            std::min(j + bj, nj - 1),     std::max<std::int64_t>(k, 1), std::min(k + bk, nk - 1)};
  }
  std::int64_t updates(std::int64_t first, std::int64_t last) const {
    std::int64_t sum = 0;
    for (std::int64_t n = first; n < last; ++n) {
      const Box b = box(n);
      sum += (b.i1 - b.i0) * (b.j1 - b.j0) * (b.k1 - b.k0);
    }
    return sum;
  }
};
inline Program lattice_sweep(const Lattice& lattice) {
  Program program;
  const std::int64_t row = 8 * lattice.nk, plane = row * lattice.nj;
  for (std::int64_t n = 0; n < lattice.blocks(); ++n) {
    const Lattice::Box b = lattice.box(n);
    const auto k = static_cast<std::uint32_t>(b.k1 - b.k0), j = static_cast<std::uint32_t>(b.j1 - b.j0),
               i = static_cast<std::uint32_t>(b.i1 - b.i0);
    ItemPattern pattern;
    pattern.slots = 2;
    const std::vector<RunDimension> nest{{k, 8, 7}, {j, row, 7 * k}, {i, plane, 7 * k * j}};
    std::uint64_t sequence = 0;
    for (const std::int64_t offset : {std::int64_t{-8}, std::int64_t{8}, -row, row, -plane, plane})
      pattern.runs.push_back(run(0, AccessKind::read, offset, sequence++, nest));
    pattern.runs.push_back(run(1, AccessKind::write, 0, sequence++, nest, true));
    pattern.accesses = std::uint64_t{7} * k * j * i;
    const auto same = [&](const ItemPattern& p) {
      return p.accesses == pattern.accesses && p.runs[0].dimension[0].count == k && p.runs[0].dimension[1].count == j;
    };
    auto found = std::find_if(program.patterns.begin(), program.patterns.end(), same);
    if (found == program.patterns.end()) found = program.patterns.insert(found, pattern);
    const std::int64_t start = b.i0 * plane + b.j0 * row + b.k0 * 8;
    program.body.blocks.push_back({n,
                                   n + 1,
                                   PatternId{static_cast<std::size_t>(found - program.patterns.begin())},
                                   {{ObjectId{0u}, start, 0}, {ObjectId{1u}, start, 0}}});
  }
  return program;
}
// Rows of block n, for walks that interleave threads.
template <class Read, class Write>
void walk_lattice_row(const Lattice& l, std::int64_t i, std::int64_t j, std::int64_t k0, std::int64_t k1, std::uint64_t source,
                      std::uint64_t target, Read&& read, Write&& write) {
  const auto at = [&](std::int64_t x, std::int64_t y, std::int64_t z) { return 8 * static_cast<std::uint64_t>((x * l.nj + y) * l.nk + z); };
  for (std::int64_t k = k0; k < k1; ++k) {
    read(source + at(i, j, k - 1));
    read(source + at(i, j, k + 1));
    read(source + at(i, j - 1, k));
    read(source + at(i, j + 1, k));
    read(source + at(i - 1, j, k));
    read(source + at(i + 1, j, k));
    write(target + at(i, j, k));
  }
}

}  // namespace homenode::test
