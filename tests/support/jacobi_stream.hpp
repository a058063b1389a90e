// The stream of a Jacobi program on two grids, as the recording runtime sends it.
#pragma once

#include "tests/support/stream_writer.hpp"

namespace homenode::test::jacobi_stream {

inline constexpr std::uint64_t a_address = 0x10000, b_address = 0x40000000;

// Two grids of 50 x 50 doubles and the six places of the program that access them.
inline void begin_grids(StreamWriter& stream, std::uint64_t first, std::uint64_t second) {
  stream.hello();
  for (std::uint64_t p = 0; p < 6; ++p) stream.pc(p, p == 5 ? HN_WRITE : HN_READ, 8);
  for (const std::uint64_t address : {first, second}) stream.allocate(address, 50 * 50 * 8);
}

// Jacobi on n x n: rows of the interior are the iterations.
inline void jacobi(StreamWriter& stream, std::int64_t n, std::uint64_t serial, std::uint64_t from, std::uint64_t to) {
  stream.parallel_begin(serial);
  stream.loop_begin(0x3000, n - 2);
  const auto row = static_cast<std::uint64_t>(n) * 8, count = static_cast<std::uint64_t>(n - 2);
  for (std::int64_t i = 0; i < n - 2; ++i) {
    stream.item(i);
    const std::uint64_t centre = from + (static_cast<std::uint64_t>(i) + 1) * row + 8, target = centre - from + to;
    const std::uint64_t bases[] = {centre, centre - 8, centre + 8, centre - row, centre + row, target};
    for (std::uint64_t p = 0; p < 6; ++p) stream.run(p, bases[p], p, count, 8, 6);
  }
  stream.loop_end();
  stream.barrier();
  stream.parallel_end(serial);
}

}  // namespace homenode::test::jacobi_stream
