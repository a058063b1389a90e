// A file of frames: a header of 16 bytes (magic, version), frames, a trailer of 24 bytes that points to the last frame.
// A frame is 32 bytes of header and a zstd frame; its checksum (xxh64) covers header and payload.
//   u32 marker "HNFR", u16 record type, u16 flags (1: critical), u64 raw size, u64 stored size, u64 checksum; little-endian
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "traces/format/records/bytes.hpp"

namespace homenode::format {

inline constexpr std::uint32_t format_version = 1;
inline constexpr std::uint64_t file_header_bytes = 16, frame_header_bytes = 32, trailer_bytes = 24;
inline constexpr std::uint64_t largest_raw_frame = std::uint64_t{1} << 30;
// What all frames of a file may unpack to: memory is bounded by the file's size. Traces unpack to 1 to 15 times their size; the writer
// pads a file that would go beyond.
constexpr std::uint64_t most_unpacked(std::uint64_t file_bytes) { return (std::uint64_t{16} << 20) + 256 * file_bytes; }

// Writes to `target`.part; finish() renames it. Without finish the .part stays, with whole frames.
class FrameWriter {
public:
  explicit FrameWriter(std::filesystem::path target);
  ~FrameWriter();
  FrameWriter(const FrameWriter&) = delete;
  FrameWriter& operator=(const FrameWriter&) = delete;
  // Returns the frame's offset.
  std::uint64_t write(RecordType, const std::vector<std::uint8_t>& raw, bool critical = true);
  std::uint64_t write(std::uint16_t type, const std::vector<std::uint8_t>& raw, bool critical);
  void finish(std::uint64_t footer_offset);
  std::uint64_t bytes() const { return position_; }

private:
  void put(const void*, std::size_t);
  std::filesystem::path target_, part_;
  int file_ = -1;
  std::uint64_t position_ = 0, unpacked_ = 0;
  std::vector<std::uint8_t> compressed_;
};

struct Frame {
  std::uint64_t offset = 0;
  std::uint16_t type = 0;
  bool critical = true;
  std::uint64_t raw_bytes = 0;    // as its header says
  std::vector<std::uint8_t> raw;  // empty where it was not wanted
};

// Random access to the frames of a file; safe to call from several threads. Throws InputError with file and frame offset.
class FrameReader {
public:
  // Checks magic and version.
  explicit FrameReader(std::filesystem::path);
  ~FrameReader();
  FrameReader(const FrameReader&) = delete;
  FrameReader& operator=(const FrameReader&) = delete;

  // Visits the frames in file order up to the trailer and verifies their checksums. `wanted` says whether to unpack a type; what the
  // frames of known types unpack to in all is refused beyond most_unpacked().
  // With `whole_frames_only` the walk ends at the first frame that is not whole; else a file without a whole trailer is refused.
  void walk(const std::function<bool(std::uint16_t type)>& wanted, const std::function<void(const Frame&)>& visit,
            bool whole_frames_only = false) const;
  Frame read(std::uint64_t offset) const;
  std::uint64_t file_bytes() const { return size_; }
  std::uint64_t most_unpacked() const { return format::most_unpacked(size_); }
  [[noreturn]] void fail(std::uint64_t offset, const std::string& message) const;

private:
  struct Header;
  Frame read(std::uint64_t offset, const std::function<bool(std::uint16_t)>& wanted, std::uint64_t& next) const;
  void get(std::uint64_t offset, void*, std::size_t) const;
  [[noreturn]] void refuse_unpacked(std::uint64_t offset) const;
  std::filesystem::path path_;
  int file_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace homenode::format
