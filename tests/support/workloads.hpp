// The reference programs as workloads in memory, in the form in which their captures come: loops over rows or blocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "sim/workload_builder.hpp"

namespace homenode::test {

inline RunDimension along(std::uint32_t count, std::int64_t stride) { return {count, stride, 0}; }

// Work of a stencil point: the six-point or five-point update as gcc -O2 emits it (loads, store, additions, a multiplication).
inline WorkCounts stencil_work(double points, double loads) {
  WorkCounts work;
  work.load = points * loads;
  work.store = points;
  work.fp_add = points * (loads - 1);
  work.fp_multiply = points;
  work.integer = points;
  work.branch = points;
  work.instructions = work.load + work.store + work.fp_add + work.fp_multiply + work.integer + work.branch;
  return work;
}

// The reference work of architecture.md: 2D five-point Jacobi, double, n x n, rows in parallel; `power` adds hotspot's third stream.
inline std::shared_ptr<Workload> jacobi2d(std::uint32_t n, int sweeps, bool init = false, bool power = false) {
  WorkloadBuilder builder;
  const std::int64_t row = 8 * static_cast<std::int64_t>(n);
  ObjectId a = builder.heap("a", static_cast<std::uint64_t>(row) * n), b = builder.heap("b", static_cast<std::uint64_t>(row) * n);
  const ObjectId p = power ? builder.heap("power", static_cast<std::uint64_t>(row) * n) : ObjectId::none();
  if (init) {
    auto rows = builder.pattern();
    rows.write(a, 0, 8, {along(n, 8)}, row).write(b, 0, 8, {along(n, 8)}, row);
    if (power) rows.write(p, 0, 8, {along(n, 8)}, row);
    builder.loop("init", n, {{0, n, rows.end(), {}}});
  }
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    auto point = builder.pattern();
    const std::vector<RunDimension> inner{along(n - 2, 8)};
    const std::int64_t first = row + 8;  // iteration 0 is row 1
    if (power) point.read(p, first, 8, inner, row);
    point.read(a, first, 8, inner, row).read(a, first - 8, 8, inner, row).read(a, first + 8, 8, inner, row);
    point.read(a, first - row, 8, inner, row).read(a, first + row, 8, inner, row).write(b, first, 8, inner, row);
    const PatternId pattern = point.work(stencil_work(n - 2, power ? 6 : 5)).end();
    builder.loop("sweep", n - 2, {{0, n - 2, pattern, {}}});
    std::swap(a, b);
  }
  return builder.build();
}

// S4's six-point Jacobi: ni x nj x nk points, k fastest, blocks of bi x bj x bk collapsed over i, j, k; initialised over the
// same blocks in parallel, or serially; stores streamable. Blocks at the lattice's surface leave out the boundary points.
inline std::shared_ptr<Workload> jacobi3d(std::int64_t ni, std::int64_t nj, std::int64_t nk, std::int64_t bi, std::int64_t bj,
                                          std::int64_t bk, int sweeps = 1, bool serial_init = false) {
  WorkloadBuilder builder;
  const std::int64_t plane = 8 * nj * nk, row = 8 * nk;
  ObjectId source = builder.heap("source", static_cast<std::uint64_t>(plane * ni));
  ObjectId target = builder.heap("target", static_cast<std::uint64_t>(plane * ni));
  struct Box {
    std::int64_t i0, i1, j0, j1, k0, k1;
  };
  const auto block = [&](std::int64_t n, bool inner) {
    const std::int64_t blocks_j = nj / bj, blocks_k = nk / bk;
    const std::int64_t i = n / (blocks_j * blocks_k) * bi, j = n / blocks_k % blocks_j * bj, k = n % blocks_k * bk;
    Box box{i, i + bi, j, j + bj, k, k + bk};
    if (inner) {
      box.i0 = std::max<std::int64_t>(box.i0, 1), box.i1 = std::min(box.i1, ni - 1);
      box.j0 = std::max<std::int64_t>(box.j0, 1), box.j1 = std::min(box.j1, nj - 1);
      box.k0 = std::max<std::int64_t>(box.k0, 1), box.k1 = std::min(box.k1, nk - 1);
    }
    return box;
  };
  const auto dimensions = [&](const Box& box) {
    return std::vector<RunDimension>{along(static_cast<std::uint32_t>(box.k1 - box.k0), 8),
                                     along(static_cast<std::uint32_t>(box.j1 - box.j0), row),
                                     along(static_cast<std::uint32_t>(box.i1 - box.i0), plane)};
  };
  const std::int64_t blocks = ni / bi * (nj / bj) * (nk / bk);
  const auto loop = [&](const std::string& label, bool sweep) {
    std::vector<WorkloadBuilder::Part> parts;
    std::vector<std::pair<Box, PatternId>> shapes;  // relative to the block's first point
    for (std::int64_t n = 0; n < blocks; ++n) {
      const Box box = block(n, sweep);
      const Box shape{0, box.i1 - box.i0, 0, box.j1 - box.j0, 0, box.k1 - box.k0};
      auto found = std::find_if(shapes.begin(), shapes.end(),
                                [&](const auto& s) { return s.first.i1 == shape.i1 && s.first.j1 == shape.j1 && s.first.k1 == shape.k1; });
      if (found == shapes.end()) {
        auto pattern = builder.pattern();
        const auto inner = dimensions(shape);
        if (sweep) {
          for (const std::int64_t offset : {-plane, plane, -row, row, std::int64_t{-8}, std::int64_t{8}})
            pattern.read(source, offset, 8, inner);
          pattern.write(target, 0, 8, inner, 0, true);
          pattern.work(stencil_work(static_cast<double>(shape.i1 * shape.j1 * shape.k1), 6));
        } else {
          pattern.write(source, 0, 8, inner).write(target, 0, 8, inner);
        }
        shapes.emplace_back(shape, pattern.end());
        found = shapes.end() - 1;
      }
      const std::int64_t start = box.i0 * plane + box.j0 * row + box.k0 * 8;
      parts.push_back({n, n + 1, found->second, {start, start}});
    }
    builder.loop(label, blocks, std::move(parts));
  };
  if (serial_init) {
    const std::uint32_t points = static_cast<std::uint32_t>(nj * nk);
    builder.serial("init", builder.pattern()
                               .write(source, 0, 8, {along(points, 8), along(static_cast<std::uint32_t>(ni), plane)})
                               .write(target, 0, 8, {along(points, 8), along(static_cast<std::uint32_t>(ni), plane)})
                               .end());
  } else {
    loop("init", false);
  }
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    loop("sweep", true);
    std::swap(source, target);
  }
  return builder.build();
}

// STREAM copy (c = a) or triad (a = b + s c) on n doubles, in `chunks` iterations, initialised in parallel; stores streamable.
inline std::shared_ptr<Workload> stream(std::uint64_t n, std::int64_t chunks, bool triad, int repeats = 1) {
  WorkloadBuilder builder;
  const auto elements = static_cast<std::uint32_t>(n / static_cast<std::uint64_t>(chunks));
  const std::int64_t bytes = 8 * static_cast<std::int64_t>(elements);
  const ObjectId a = builder.heap("a", n * 8), b = builder.heap("b", n * 8), c = builder.heap("c", n * 8);
  const std::vector<RunDimension> inner{along(elements, 8)};
  auto init = builder.pattern();
  init.write(a, 0, 8, inner, bytes).write(b, 0, 8, inner, bytes).write(c, 0, 8, inner, bytes);
  builder.loop("init", chunks, {{0, chunks, init.end(), {}}});
  for (int repeat = 0; repeat < repeats; ++repeat) {
    auto body = builder.pattern();
    if (triad) {
      body.read(b, 0, 8, inner, bytes).read(c, 0, 8, inner, bytes).write(a, 0, 8, inner, bytes, true);
    } else {
      body.read(a, 0, 8, inner, bytes).write(c, 0, 8, inner, bytes, true);
    }
    builder.loop(triad ? "triad" : "copy", chunks, {{0, chunks, body.end(), {}}});
  }
  return builder.build();
}

// Random reads of `elements` lines: each address from the read `distance` accesses before (1 = a chase, 0 = independent).
inline std::shared_ptr<Workload> random_reads(std::uint32_t elements, std::uint32_t distance, std::uint64_t seed = 1) {
  WorkloadBuilder builder;
  const ObjectId table = builder.heap("table", std::uint64_t{64} * elements);
  std::vector<std::int64_t> order(elements);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 generator{seed};
  for (std::size_t i = elements; i > 1; --i) std::swap(order[i - 1], order[generator() % i]);
  for (std::int64_t& line : order) line *= 64;
  builder.serial("init", builder.pattern().write(table, 0, 8, {along(elements, 64)}).end());
  builder.serial(
      distance == 0 ? "gather" : "chase",
      builder.pattern().irregular(AccessKind::read, table, 8, std::move(order), std::vector<std::uint32_t>(elements, distance)).end());
  return builder.build();
}

}  // namespace homenode::test
