// Bytes a second between cores and memory.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "models/machines/native/measuring.hpp"

namespace homenode::native {
namespace {

#if defined(__SSE2__)
void read_array(const char* from, std::size_t bytes) {
  __m128i sums[line_bytes / 16] = {};  // so that no load waits for what was done with the one before
  for (std::size_t at = 0; at < bytes; at += line_bytes) {
#pragma GCC unroll 4
    for (std::size_t part = 0; part < std::size(sums); ++part)
      sums[part] = _mm_xor_si128(sums[part], _mm_load_si128(reinterpret_cast<const __m128i*>(from + at) + part));
  }
  for (const __m128i sum : sums) keep(_mm_cvtsi128_si64(sum));
}
void copy_regular(char* to, const char* from, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += 16)
    _mm_store_si128(reinterpret_cast<__m128i*>(to + at), _mm_load_si128(reinterpret_cast<const __m128i*>(from + at)));
  keep(to);
}
void copy_nontemporal(char* to, const char* from, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + at), _mm_load_si128(reinterpret_cast<const __m128i*>(from + at)));
  _mm_sfence();
  keep(to);
}
void write_regular(char* to, std::size_t bytes) {
  const __m128i value = _mm_set1_epi32(1);
  for (std::size_t at = 0; at < bytes; at += 16) _mm_store_si128(reinterpret_cast<__m128i*>(to + at), value);
  keep(to);
}
void write_nontemporal(char* to, std::size_t bytes) {
  const __m128i value = _mm_set1_epi32(1);
  for (std::size_t at = 0; at < bytes; at += 16) _mm_stream_si128(reinterpret_cast<__m128i*>(to + at), value);
  _mm_sfence();
  keep(to);
}
#else
void read_array(const char* from, std::size_t bytes) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < bytes; at += sizeof sum) sum ^= *reinterpret_cast<const std::uint64_t*>(from + at);
  keep(sum);
}
void copy_regular(char* to, const char* from, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += sizeof(double))
    *reinterpret_cast<double*>(to + at) = *reinterpret_cast<const double*>(from + at);
  keep(to);
}
void copy_nontemporal(char* to, const char* from, std::size_t bytes) { copy_regular(to, from, bytes); }
void write_regular(char* to, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += sizeof(double)) *reinterpret_cast<double*>(to + at) = 1;
  keep(to);
}
void write_nontemporal(char* to, std::size_t bytes) { write_regular(to, bytes); }
#endif

// Of a sample: a pass over an array of a cache takes some microseconds, of which the clock and the threads' meeting are a part.
constexpr std::size_t least_bytes = std::size_t{8} << 20;

// A load of its own for each stream, as loops of programs have. Where one load went from stream to stream, Zen 5's prefetchers lost two,
// four and 32 of them, and followed 64 of loads of their own.
template <unsigned streams>
void read_each(const char* from, std::size_t part, std::size_t distance) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < part; at += line_bytes) {
#pragma GCC unroll 64
    for (unsigned stream = 0; stream < streams; ++stream) sum += *reinterpret_cast<const std::uint64_t*>(from + stream * distance + at);
  }
  keep(sum);
}

// A line of each stream in turn, by one load. Throws std::logic_error for a number that has no loop.
void read_streams(const char* from, std::size_t part, std::size_t distance, unsigned streams) {
  switch (streams) {
    case 1: return read_each<1>(from, part, distance);
    case 2: return read_each<2>(from, part, distance);
    case 4: return read_each<4>(from, part, distance);
    case 8: return read_each<8>(from, part, distance);
    case 16: return read_each<16>(from, part, distance);
    case 24: return read_each<24>(from, part, distance);
    case 32: return read_each<32>(from, part, distance);
    case 40: return read_each<40>(from, part, distance);
    case 48: return read_each<48>(from, part, distance);
    case 64: return read_each<64>(from, part, distance);
    default: throw std::logic_error("no loop reads " + std::to_string(streams) + " streams");
  }
}

void update(char* to, std::size_t bytes) {
  auto* values = reinterpret_cast<double*>(to);
  for (std::size_t index = 0; index < bytes / sizeof(double); ++index) values[index] = values[index] + 1.0;
  keep(to);
}

void triad(char* to, const char* first, const char* second, std::size_t bytes) {
  auto* result = reinterpret_cast<double*>(to);
  const auto* left = reinterpret_cast<const double*>(first);
  const auto* right = reinterpret_cast<const double*>(second);
  for (std::size_t index = 0; index < bytes / sizeof(double); ++index) result[index] = left[index] + 3.0 * right[index];
  keep(to);
}

}  // namespace

std::string name_of(Kernel kernel) {
  switch (kernel) {
    case Kernel::read: return "read";
    case Kernel::copy_regular: return "copy";
    case Kernel::copy_nontemporal: return "copy, non-temporal stores";
    case Kernel::triad: return "triad";
    case Kernel::write_regular: return "write";
    case Kernel::write_nontemporal: return "write, non-temporal stores";
    case Kernel::update: return "update";
  }
  return "";
}

double read_bytes(Kernel kernel) {
  switch (kernel) {
    case Kernel::read: return 8;
    case Kernel::copy_regular: return 16;
    case Kernel::copy_nontemporal: return 8;
    case Kernel::triad: return 24;
    case Kernel::write_regular: return 8;
    case Kernel::write_nontemporal: return 0;
    case Kernel::update: return 8;
  }
  return 0;
}

double write_bytes(Kernel kernel) { return kernel == Kernel::read ? 0 : 8; }

Spread bandwidth(Kernel kernel, const std::vector<unsigned>& cpus, std::size_t array, unsigned repeats) {
  array = std::max<std::size_t>(array / line_bytes, 1) * line_bytes;
  const std::size_t passes = (least_bytes + array - 1) / array;
  SpinBarrier together{static_cast<unsigned>(cpus.size())};
  std::vector<double> samples;
  double begin = 0;
  on_each(cpus, [&](unsigned rank) {
    // First touched by the thread that uses it.
    const bool writes_only = kernel == Kernel::write_regular || kernel == Kernel::write_nontemporal || kernel == Kernel::update;
    const Buffer from{writes_only ? line_bytes : array};
    const Buffer to{kernel == Kernel::read ? line_bytes : array};
    const Buffer second{kernel == Kernel::triad ? array : line_bytes};
    for (unsigned repeat = 0; repeat <= repeats; ++repeat) {
      together.wait();
      if (rank == 0) begin = now_seconds();
      for (std::size_t pass = 0; pass < passes; ++pass) {
        switch (kernel) {
          case Kernel::read: read_array(from.data(), array); break;
          case Kernel::copy_regular: copy_regular(to.data(), from.data(), array); break;
          case Kernel::copy_nontemporal: copy_nontemporal(to.data(), from.data(), array); break;
          case Kernel::triad: triad(to.data(), from.data(), second.data(), array); break;
          case Kernel::write_regular: write_regular(to.data(), array); break;
          case Kernel::write_nontemporal: write_nontemporal(to.data(), array); break;
          case Kernel::update: update(to.data(), array); break;
        }
      }
      together.wait();
      const double real_bytes =
          (read_bytes(kernel) + write_bytes(kernel)) / 8 * static_cast<double>(array * passes) * static_cast<double>(cpus.size());
      if (rank == 0 && repeat > 0) samples.push_back(real_bytes / (now_seconds() - begin));
    }
  });
  return most(samples);
}

Spread bandwidth_from_nodes(const std::vector<unsigned>& cpus, const std::vector<unsigned>& nodes, std::size_t array, unsigned repeats) {
  array = std::max<std::size_t>(array / line_bytes, 1) * line_bytes;
  std::vector<Buffer> memory;  // here, so that a refusal is thrown before threads wait for one another
  for (std::size_t rank = 0; rank < cpus.size(); ++rank) memory.emplace_back(array, Buffer::Pages::huge, nodes[rank % nodes.size()]);
  SpinBarrier together{static_cast<unsigned>(cpus.size())};
  std::vector<double> samples;
  double begin = 0;
  on_each(cpus, [&](unsigned rank) {
    for (unsigned repeat = 0; repeat <= repeats; ++repeat) {
      together.wait();
      if (rank == 0) begin = now_seconds();
      read_array(memory[rank].data(), array);
      together.wait();
      if (rank == 0 && repeat > 0)
        samples.push_back(static_cast<double>(array) * static_cast<double>(cpus.size()) / (now_seconds() - begin));
    }
  });
  return most(samples);
}

// A part each, shorter than a power of two by some pages and lines: streams that are a power of two apart meet in the same sets of a
// cache and, which costs half of the bandwidth of two or four streams on Zen 4, in the same banks of memory.
double stream_bandwidth(unsigned streams, const Buffer& buffer, unsigned repeats) {
  constexpr std::size_t shorter = 69 * (4096 / line_bytes) + 5;  // lines
  const std::size_t lines = buffer.size() / line_bytes / streams;
  const std::size_t part = (lines > 2 * shorter ? lines - shorter : lines) * line_bytes;
  double best = 0;
  for (unsigned repeat = 0; repeat <= repeats; ++repeat) {
    const double seconds = seconds_of([&] { read_streams(buffer.data(), part, part, streams); });
    if (repeat > 0) best = std::max(best, static_cast<double>(part) * streams / seconds);
  }
  return best;
}

double strided_nanoseconds(const Buffer& buffer, std::size_t stride, std::size_t loads, unsigned repeats) {
  double best = std::numeric_limits<double>::infinity();
  for (unsigned repeat = 0; repeat <= repeats; ++repeat) {
    std::uint64_t sum = 0;
    const double seconds = seconds_of([&] {
      std::size_t at = 0, first = 0;
      for (std::size_t load = 0; load < loads; ++load) {
        sum += *reinterpret_cast<const std::uint64_t*>(buffer.data() + at);
        at += stride;
        if (at < buffer.size()) continue;
        first = (first + line_bytes) % stride;
        at = first;
      }
      keep(sum);
    });
    if (repeat > 0) best = std::min(best, seconds);
  }
  return best / static_cast<double>(loads) * 1e9;
}

double run_nanoseconds(const Buffer& buffer, std::size_t lines, std::size_t loads, unsigned repeats) {
  const std::size_t places = buffer.size() / line_bytes / lines, runs = std::max<std::size_t>(loads / lines, 1);
  double best = std::numeric_limits<double>::infinity();
  std::minstd_rand random;  // its numbers do not wait for the loads
  for (unsigned repeat = 0; repeat <= repeats; ++repeat) {
    std::uint64_t sum = 0;
    const double seconds = seconds_of([&] {
      for (std::size_t run = 0; run < runs; ++run) {
        const char* const from = buffer.data() + random() % places * lines * line_bytes;
        for (std::size_t line = 0; line < lines; ++line) sum += *reinterpret_cast<const std::uint64_t*>(from + line * line_bytes);
      }
      keep(sum);
    });
    if (repeat > 0) best = std::min(best, seconds);
  }
  return best / static_cast<double>(runs * lines) * 1e9;
}

double stream_walk_nanoseconds(std::size_t array, std::size_t page, unsigned repeats) {
  constexpr unsigned numbers[] = {1, 2, 4, 8};
  const Buffer huge{array, Buffer::Pages::huge}, small{array, Buffer::Pages::small};
  double sum = 0;
  for (const unsigned streams : numbers) {
    const auto step = [&](const Buffer& buffer) {
      return static_cast<double>(page) * streams / stream_bandwidth(streams, buffer, repeats);
    };
    sum += step(small) - step(huge);
  }
  return sum / std::size(numbers) * 1e9;
}

}  // namespace homenode::native
