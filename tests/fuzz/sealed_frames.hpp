// Frames as plain bytes, so that a mutation of the bytes reaches the decoders: as a file, its checksums would refuse all.
// Each frame: type (1 byte, the upper bit says critical), length of the payload (3 bytes, little-endian), payload.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "traces/format/frame.hpp"

namespace homenode::fuzz {

inline std::vector<std::uint8_t> unsealed(const std::filesystem::path& trace) {
  std::vector<std::uint8_t> bytes;
  const auto every = [](std::uint16_t) { return true; };
  format::FrameReader{trace}.walk(every, [&](const format::Frame& frame) {
    bytes.push_back(static_cast<std::uint8_t>(frame.type | (frame.critical ? 0x80 : 0)));
    for (unsigned byte = 0; byte < 3; ++byte) bytes.push_back(static_cast<std::uint8_t>(frame.raw.size() >> (8 * byte)));
    bytes.insert(bytes.end(), frame.raw.begin(), frame.raw.end());
  });
  return bytes;
}

// Whole frames with right checksums, whatever is in them; the last one is the footer, as a file's trailer says.
inline void seal(const std::uint8_t* data, std::size_t size, const std::filesystem::path& trace) {
  format::FrameWriter writer{trace};
  std::uint64_t last = format::file_header_bytes;
  for (std::size_t at = 0; at + 4 <= size;) {
    const std::size_t length = data[at + 1] | data[at + 2] << 8 | data[at + 3] << 16;
    const std::uint8_t* const payload = data + at + 4;
    const std::size_t there = std::min(length, size - at - 4);
    last = writer.write(data[at] & 0x7F, {payload, payload + there}, (data[at] & 0x80) != 0);
    at += 4 + there;
  }
  writer.finish(last);
}

}  // namespace homenode::fuzz
