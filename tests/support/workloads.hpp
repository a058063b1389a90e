// The programs of traces/kernels as workloads in memory, in the form that a capture of them yields: the accesses, their order
// and their blocks are the real ones; sizes are whatever a test asks for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "sim/program/workload_builder.hpp"

namespace homenode::test {

// 5-point Jacobi on n x n doubles: `init` writes both arrays, row by row; each sweep reads 5 and writes 1 double a point of
// the interior. Rows are the iterations. Accesses: 2 n^2 + 6 (n - 2)^2 a sweep.
inline std::shared_ptr<Workload> jacobi2d(std::int64_t n, unsigned sweeps) {
  WorkloadBuilder builder;
  const std::int64_t row = n * 8;
  const ObjectId a = builder.object("a", static_cast<std::uint64_t>(n * row)), b = builder.object("b", static_cast<std::uint64_t>(n * row));
  const RegionId init = builder.loop("init", n);
  builder.nest(init, {static_cast<std::uint32_t>(n)}, {write(a, 0, {8}, row), write(b, 0, {8}, row)});
  builder.repeat(init);
  const RegionId sweep = builder.loop("sweep", n - 2);
  ObjectId from = a, to = b;
  for (unsigned s = 0; s < sweeps; ++s) {
    builder.clear(sweep);
    const std::int64_t centre = row + 8;
    builder.nest(sweep, {static_cast<std::uint32_t>(n - 2)},
                 {read(from, centre, {8}, row), read(from, centre - 8, {8}, row), read(from, centre + 8, {8}, row),
                  read(from, centre - row, {8}, row), read(from, centre + row, {8}, row), write(to, centre, {8}, row)});
    builder.repeat(sweep);
    std::swap(from, to);
  }
  return builder.build();
}

// Jacobi on ni x nj x nk doubles (k fastest) in blocks of bi x bj x bk, collapsed over (i, j, k) with k fastest: `init` writes
// both arrays block by block; a sweep reads the six neighbours and writes the interior points of each block, with streamable stores.
inline std::shared_ptr<Workload> jacobi3d(std::int64_t ni, std::int64_t nj, std::int64_t nk, std::int64_t bi, std::int64_t bj,
                                          std::int64_t bk, unsigned sweeps) {
  WorkloadBuilder builder;
  const std::int64_t plane = nj * nk * 8, row = nk * 8;
  const auto bytes = static_cast<std::uint64_t>(ni * plane);
  const ObjectId a = builder.object("a", bytes), b = builder.object("b", bytes);
  struct Box {
    std::int64_t offset;
    std::vector<std::uint32_t> counts;
  };
  std::vector<Box> whole, interior;
  const auto box = [&](std::int64_t i0, std::int64_t i1, std::int64_t j0, std::int64_t j1, std::int64_t k0, std::int64_t k1) {
    const auto count = [](std::int64_t low, std::int64_t high) {
      return static_cast<std::uint32_t>(std::max<std::int64_t>(high - low, 0));
    };
    return Box{i0 * plane + j0 * row + k0 * 8, {count(k0, k1), count(j0, j1), count(i0, i1)}};
  };
  for (std::int64_t i = 0; i < ni; i += bi) {
    for (std::int64_t j = 0; j < nj; j += bj) {
      for (std::int64_t k = 0; k < nk; k += bk) {
        const std::int64_t i1 = std::min(i + bi, ni), j1 = std::min(j + bj, nj), k1 = std::min(k + bk, nk);
        whole.push_back(box(i, i1, j, j1, k, k1));
        interior.push_back(box(std::max<std::int64_t>(i, 1), std::min(i1, ni - 1), std::max<std::int64_t>(j, 1), std::min(j1, nj - 1),
                               std::max<std::int64_t>(k, 1), std::min(k1, nk - 1)));
      }
    }
  }
  // Consecutive boxes of equal shape at a constant distance are one block.
  const auto describe = [&](RegionId region, const std::vector<Box>& boxes,
                            const std::function<std::vector<Reference>(std::int64_t offset, std::int64_t shift)>& references) {
    for (std::size_t first = 0; first < boxes.size();) {
      std::size_t last = first + 1;
      std::int64_t shift = 0;
      while (last < boxes.size() && boxes[last].counts == boxes[first].counts) {
        const std::int64_t distance = boxes[last].offset - boxes[last - 1].offset;
        if (last == first + 1) shift = distance;
        if (distance != shift) break;
        ++last;
      }
      builder.nest(region, boxes[first].counts, references(boxes[first].offset, last > first + 1 ? shift : 0));
      builder.next_block(region, static_cast<std::int64_t>(last));
      first = last;
    }
  };
  const auto items = static_cast<std::int64_t>(whole.size());
  const RegionId init = builder.loop("init", items);
  const std::vector<std::int64_t> strides{8, row, plane};
  describe(init, whole, [&](std::int64_t offset, std::int64_t shift) {
    return std::vector<Reference>{write(a, offset, strides, shift), write(b, offset, strides, shift)};
  });
  builder.repeat(init);
  const RegionId sweep = builder.loop("sweep", items);
  ObjectId from = a, to = b;
  for (unsigned s = 0; s < sweeps; ++s) {
    builder.clear(sweep);
    describe(sweep, interior, [&](std::int64_t offset, std::int64_t shift) {
      std::vector<Reference> references;
      for (const std::int64_t neighbour : {-plane, plane, -row, row, std::int64_t{-8}, std::int64_t{8}}) {
        references.push_back(read(from, offset + neighbour, strides, shift));
      }
      references.push_back(streamed_write(to, offset, strides, shift));
      return references;
    });
    builder.repeat(sweep);
    std::swap(from, to);
  }
  return builder.build();
}

// STREAM on arrays of `elements` doubles, in `blocks` iterations of equal size: `init`, then `repeats` times copy c = a
// or triad a = b + s c. Accesses an element: copy 2 in init and 2 a repeat, triad 3 and 3.
inline std::shared_ptr<Workload> stream_copy(std::int64_t elements, std::int64_t blocks, unsigned repeats, bool streamable = false) {
  WorkloadBuilder builder;
  const std::int64_t chunk = elements / blocks;
  const auto count = static_cast<std::uint32_t>(chunk);
  const auto bytes = static_cast<std::uint64_t>(chunk * blocks * 8);
  const ObjectId a = builder.object("a", bytes), c = builder.object("c", bytes);
  const RegionId init = builder.loop("init", blocks), copy = builder.loop("copy", blocks);
  builder.nest(init, {count}, {write(a, 0, {8}, chunk * 8), write(c, 0, {8}, chunk * 8)});
  builder.repeat(init);
  builder.nest(copy, {count},
               {read(a, 0, {8}, chunk * 8), streamable ? streamed_write(c, 0, {8}, chunk * 8) : write(c, 0, {8}, chunk * 8)});
  builder.repeat(copy, repeats);
  return builder.build();
}

inline std::shared_ptr<Workload> stream_triad(std::int64_t elements, std::int64_t blocks, unsigned repeats, bool streamable = false) {
  WorkloadBuilder builder;
  const std::int64_t chunk = elements / blocks;
  const auto count = static_cast<std::uint32_t>(chunk);
  const auto bytes = static_cast<std::uint64_t>(chunk * blocks * 8);
  const ObjectId a = builder.object("a", bytes), b = builder.object("b", bytes), c = builder.object("c", bytes);
  const RegionId init = builder.loop("init", blocks), triad = builder.loop("triad", blocks);
  builder.nest(init, {count}, {write(a, 0, {8}, chunk * 8), write(b, 0, {8}, chunk * 8), write(c, 0, {8}, chunk * 8)});
  builder.repeat(init);
  builder.nest(triad, {count},
               {read(b, 0, {8}, chunk * 8), read(c, 0, {8}, chunk * 8),
                streamable ? streamed_write(a, 0, {8}, chunk * 8) : write(a, 0, {8}, chunk * 8)});
  builder.repeat(triad, repeats);
  return builder.build();
}

// A full-period walk through 0 .. count-1 in an order without locality (a linear congruential step).
inline std::vector<std::int64_t> scattered_order(std::int64_t count) {
  std::int64_t step = count * 5 / 8 | 1;
  while (std::gcd(step, count) != 1) step += 2;
  std::vector<std::int64_t> order;
  std::int64_t position = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    order.push_back(position);
    position = (position + step) % count;
  }
  return order;
}

// `chains` pointer chases in step through `nodes` nodes of `node_bytes`: the address of each load comes from the load `chains`
// accesses before it. `init` writes the nodes in order, in one iteration; the chase is serial.
inline std::shared_ptr<Workload> chase(std::int64_t nodes, std::int64_t steps, unsigned chains = 1, std::int64_t node_bytes = 64) {
  WorkloadBuilder builder;
  const ObjectId list = builder.object("nodes", static_cast<std::uint64_t>(nodes * node_bytes));
  const RegionId init = builder.serial("init"), walk = builder.serial("chase");
  builder.nest(init, {static_cast<std::uint32_t>(nodes)}, {write(list, 0, {node_bytes})});
  builder.repeat(init);
  const std::vector<std::int64_t> order = scattered_order(nodes);
  std::vector<std::int64_t> offsets;
  for (std::int64_t s = 0; s < steps; ++s) {
    for (unsigned chain = 0; chain < chains; ++chain) {
      offsets.push_back(order[static_cast<std::size_t>((s + chain * nodes / chains) % nodes)] * node_bytes);
    }
  }
  builder.stream(walk, AccessKind::read, list, offsets, chains);
  builder.repeat(walk);
  return builder.build();
}

// y[i] = x[index[i]] in `blocks` iterations: index (4 bytes) is read in order, x without locality, y written in order. The
// address of each read of x comes from the read of index just before it; the reads of x do not depend on each other.
inline std::shared_ptr<Workload> gather(std::int64_t elements, std::int64_t table, std::int64_t blocks) {
  WorkloadBuilder builder;
  const std::int64_t chunk = elements / blocks;
  const ObjectId index = builder.object("index", static_cast<std::uint64_t>(chunk * blocks * 4)),
                 x = builder.object("x", static_cast<std::uint64_t>(table * 8)),
                 y = builder.object("y", static_cast<std::uint64_t>(chunk * blocks * 8));
  const RegionId init = builder.loop("init", blocks), region = builder.loop("gather", blocks);
  const auto count = static_cast<std::uint32_t>(chunk);
  builder.nest(init, {count}, {write(index, 0, {4}, chunk * 4, 4), write(y, 0, {8}, chunk * 8)});
  builder.repeat(init);
  const RegionId fill = builder.serial("fill");
  builder.nest(fill, {static_cast<std::uint32_t>(table)}, {write(x, 0, {8})});
  builder.repeat(fill);
  const std::vector<std::int64_t> order = scattered_order(table);
  for (std::int64_t block = 0; block < blocks; ++block) {
    // Three references in step; the irregular one is a column whose sequence numbers lie between those of the other two.
    builder.interleaved(region, count, {read(index, block * chunk * 4, {4}, 0, 4)}, x,
                        [&](std::int64_t i) { return order[static_cast<std::size_t>((block * chunk + i) % table)] * 8; },
                        {write(y, block * chunk * 8, {8})});
    builder.next_block(region, block + 1);
  }
  builder.repeat(region);
  return builder.build();
}

// A single creates n tasks, each of which writes a row of its own; each even one is followed by the next, and there is a group around all.
inline std::shared_ptr<Workload> tasks(std::int64_t n) {
  WorkloadBuilder builder;
  const std::int64_t row = 64;
  const ObjectId rows = builder.object("rows", static_cast<std::uint64_t>(n * row));
  builder.parallel(1);
  const RegionId tasks = builder.tasks("rows:task", n);
  builder.nest(tasks, {8}, {write(rows, 0, {8}, row)});
  builder.repeat(tasks);
  const RegionId single = builder.single("rows");
  builder.sync(single, SyncOperation::task_group_begin);
  for (std::int64_t k = 0; k < n; ++k) {
    builder.sync(single, SyncOperation::depend, static_cast<std::uint64_t>(k / 2), k % 2 == 0 ? 2 : 1);
    builder.sync(single, SyncOperation::task_submit, 0, static_cast<std::uint64_t>(k));
  }
  builder.sync(single, SyncOperation::task_wait, 0, 0);
  builder.sync(single, SyncOperation::task_group_end);
  builder.nest(single, {1}, {read(rows, 0, {8})});
  builder.repeat(single);
  return builder.build();
}

// Two loops over the same blocks: the first one writes them, the second one reads and writes them again, `sweeps` times.
inline std::shared_ptr<Workload> blocks(std::int64_t iterations, std::int64_t block_bytes, std::uint32_t sweeps = 1) {
  WorkloadBuilder builder;
  const ObjectId grid = builder.object("grid", static_cast<std::uint64_t>(std::max<std::int64_t>(iterations, 1) * block_bytes));
  const auto words = static_cast<std::uint32_t>(block_bytes / 8);
  const RegionId init = builder.loop("init", iterations), sweep = builder.loop("sweep", iterations);
  builder.nest(init, {words}, {write(grid, 0, {8}, block_bytes)});
  builder.nest(sweep, {words}, {read(grid, 0, {8}, block_bytes), write(grid, 0, {8}, block_bytes)});
  builder.repeat(init);
  builder.repeat(sweep, sweeps);
  return builder.build();
}

}  // namespace homenode::test
