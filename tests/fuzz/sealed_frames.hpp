// A trace as its frames in plain, to be changed and sealed again with right checksums: as a file, its checksums would refuse any change.
// INDEX holds numbers of ITEM frames (0, 1, ...) in place of their offsets, so that it stays right when frames before it change in size.
// As bytes, for libFuzzer: type (1 byte, the upper bit says critical), length of the payload (3 bytes, little-endian), payload.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "traces/format/frame.hpp"
#include "traces/format/records/codec.hpp"

namespace homenode::fuzz {

struct PlainFrame {
  std::uint16_t type = 0;
  bool critical = true;
  std::vector<std::uint8_t> raw;
  bool is(RecordType wanted) const { return type == static_cast<std::uint16_t>(wanted); }
};

// The records of INDEX with each offset changed; what is no INDEX stays as it is.
inline std::vector<std::uint8_t> with_offsets(const std::vector<std::uint8_t>& index,
                                              const std::function<std::uint64_t(std::uint64_t)>& change) {
  format::ByteWriter out;
  const format::LookUp no_texts;
  try {
    format::for_each_record(format::ByteReader{index}, {}, [&](RecordType type, format::ByteReader& fields) {
      if (type != RecordType::index) throw format::DecodeError{"another record"};
      const std::uint64_t row = fields.unsigned_value();
      format::FrameOffsets frames = format::IndexCodec::decode(fields, no_texts);
      for (std::uint64_t& offset : frames.offsets) offset = change(offset);
      out.record(RecordType::index, [&] {
        out.unsigned_value(row);
        format::IndexCodec::encode(out, frames, {});
      });
      return true;
    });
  } catch (const format::DecodeError&) { return index; }
  return out.bytes();
}

inline std::vector<PlainFrame> frames_of(const std::filesystem::path& trace) {
  std::vector<PlainFrame> frames;
  std::vector<std::uint64_t> items;
  format::FrameReader{trace}.walk([](std::uint16_t) { return true; },
                                  [&](const format::Frame& frame) {
                                    frames.push_back({frame.type, frame.critical, frame.raw});
                                    if (frames.back().is(RecordType::item)) items.push_back(frame.offset);
                                  });
  for (PlainFrame& frame : frames) {
    if (!frame.is(RecordType::index)) continue;
    frame.raw = with_offsets(frame.raw, [&](std::uint64_t offset) {
      return static_cast<std::uint64_t>(std::find(items.begin(), items.end(), offset) - items.begin());
    });
  }
  return frames;
}

// The last frame is the footer, as a file's trailer says.
inline void seal(const std::vector<PlainFrame>& frames, const std::filesystem::path& trace) {
  format::FrameWriter writer{trace};
  std::uint64_t last = format::file_header_bytes;
  std::vector<std::uint64_t> items;
  const auto offset_of = [&](std::uint64_t item) { return item < items.size() ? items[item] : item; };
  for (const PlainFrame& frame : frames) {
    last = writer.write(frame.type, frame.is(RecordType::index) ? with_offsets(frame.raw, offset_of) : frame.raw, frame.critical);
    if (frame.is(RecordType::item)) items.push_back(last);
  }
  writer.finish(last);
}

inline std::vector<std::uint8_t> bytes_of(const std::vector<PlainFrame>& frames) {
  std::vector<std::uint8_t> bytes;
  for (const PlainFrame& frame : frames) {
    bytes.push_back(static_cast<std::uint8_t>((frame.type & 0x7F) | (frame.critical ? 0x80 : 0)));
    for (unsigned byte = 0; byte < 3; ++byte) bytes.push_back(static_cast<std::uint8_t>(frame.raw.size() >> (8 * byte)));
    bytes.insert(bytes.end(), frame.raw.begin(), frame.raw.end());
  }
  return bytes;
}

inline std::vector<PlainFrame> frames_in(const std::uint8_t* data, std::size_t size) {
  std::vector<PlainFrame> frames;
  for (std::size_t at = 0; at + 4 <= size;) {
    const std::size_t length = data[at + 1] | data[at + 2] << 8 | data[at + 3] << 16;
    const std::uint8_t* const payload = data + at + 4;
    const std::size_t there = std::min(length, size - at - 4);
    frames.push_back({static_cast<std::uint16_t>(data[at] & 0x7F), (data[at] & 0x80) != 0, {payload, payload + there}});
    at += 4 + there;
  }
  return frames;
}

}  // namespace homenode::fuzz
