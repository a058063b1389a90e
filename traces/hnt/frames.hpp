// Frames: [type u16][flags u16][raw u32][compressed u32][xxh64 u64][bytes], little-endian. The checksum covers
// the compressed bytes and the header before it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "traces/hnt/records.hpp"

namespace homenode::format {

// As PNG's: shows at once a file that went through a text conversion.
constexpr unsigned char magic[8] = {0x89, 'H', 'N', 'T', '\r', '\n', 0x1a, '\n'};
constexpr std::uint32_t version = 1;
constexpr std::size_t file_header_bytes = 16, frame_header_bytes = 20, trailer_bytes = 24;
constexpr std::uint16_t critical = 1;  // a reader that does not know the type must refuse the file
constexpr std::uint32_t greatest_frame = 1u << 30;

struct Frame {
  FrameType type{};
  std::uint16_t flags = 0;
  std::uint64_t offset = 0, next = 0;
  std::vector<std::uint8_t> bytes;
};

std::vector<std::uint8_t> seal(FrameType, const std::vector<std::uint8_t>& payload);  // header and compressed bytes
std::uint64_t checksum(const void*, std::size_t);
std::string place(const std::filesystem::path&, std::uint64_t offset, const std::string& what);

class FrameReader {
public:
  explicit FrameReader(const std::filesystem::path&);
  std::uint64_t size() const { return size_; }
  // The frame at an offset; throws InputError. `whole` asks only whether a whole and sound frame is there.
  Frame read(std::uint64_t offset) const;
  bool whole(std::uint64_t offset, Frame&) const;
  std::uint64_t index_offset() const;  // from the trailer

private:
  void load(std::uint64_t offset, void* to, std::size_t bytes) const;
  std::filesystem::path path_;
  int descriptor_;
  std::uint64_t size_ = 0;
  struct Close {
    int descriptor;
    ~Close();
  };
  std::shared_ptr<Close> close_;
};

}  // namespace homenode::format
