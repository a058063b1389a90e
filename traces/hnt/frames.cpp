#include "traces/hnt/frames.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include <cerrno>

namespace homenode::format {
namespace {

template <class Integer>
void store(std::vector<std::uint8_t>& out, Integer value) {
  for (std::size_t i = 0; i < sizeof value; ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}
template <class Integer>
Integer fetch(const std::uint8_t* from) {
  Integer value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) value = static_cast<Integer>(value | static_cast<Integer>(from[i]) << (8 * i));
  return value;
}

// Seeded with the checksum of what stands before it in the header: a damaged type or length is as noticeable as damaged bytes.
constexpr std::size_t checked_header_bytes = 12;
std::uint64_t checksum_of_frame(const std::uint8_t* header, const std::vector<std::uint8_t>& compressed) {
  return XXH64(compressed.data(), compressed.size(), XXH64(header, checked_header_bytes, 0));
}

}  // namespace

std::uint64_t checksum(const void* data, std::size_t size) { return XXH64(data, size, 0); }

std::string place(const std::filesystem::path& path, std::uint64_t offset, const std::string& what) {
  return path.string() + ": the frame at byte " + std::to_string(offset) + " " + what;
}

std::vector<std::uint8_t> seal(FrameType type, const std::vector<std::uint8_t>& payload) {
  std::vector<std::uint8_t> compressed(ZSTD_compressBound(payload.size()));
  const std::size_t size = ZSTD_compress(compressed.data(), compressed.size(), payload.data(), payload.size(), 3);
  if (ZSTD_isError(size)) throw Error(std::string{"zstd: "} + ZSTD_getErrorName(size));
  compressed.resize(size);
  std::vector<std::uint8_t> frame;
  store(frame, static_cast<std::uint16_t>(type));
  store(frame, critical);
  store(frame, static_cast<std::uint32_t>(payload.size()));
  store(frame, static_cast<std::uint32_t>(size));
  store(frame, checksum_of_frame(frame.data(), compressed));
  frame.insert(frame.end(), compressed.begin(), compressed.end());
  return frame;
}

FrameReader::Close::~Close() { ::close(descriptor); }

FrameReader::FrameReader(const std::filesystem::path& path) : path_{path}, descriptor_{::open(path.c_str(), O_RDONLY | O_CLOEXEC)} {
  if (descriptor_ < 0) throw InputError(path.string() + ": cannot be read: " + std::strerror(errno));
  close_ = std::make_shared<Close>(descriptor_);
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) throw InputError(path.string() + ": is not a file");
  size_ = static_cast<std::uint64_t>(status.st_size);
  if (size_ == 0) throw InputError(path.string() + ": is empty; allowed: a trace (.hnt)");
  std::uint8_t header[file_header_bytes] = {};
  if (size_ >= file_header_bytes) load(0, header, sizeof header);
  if (size_ < file_header_bytes || std::memcmp(header, magic, sizeof magic) != 0)
    throw InputError(path.string() + ": does not begin as a homenode trace does; allowed: a .hnt file");
  const auto found = fetch<std::uint32_t>(header + 8);
  if (found != version) {
    throw InputError(path.string() + ": is of trace format version " + std::to_string(found) +
                     (found > version ? ", from a newer homenode" : "") + "; allowed: version " + std::to_string(version));
  }
}

void FrameReader::load(std::uint64_t offset, void* to, std::size_t bytes) const {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = ::pread(descriptor_, at, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw InputError(place(path_, offset, "cannot be read: the file is truncated"));
    at += got, offset += static_cast<std::uint64_t>(got), bytes -= static_cast<std::size_t>(got);
  }
}

Frame FrameReader::read(std::uint64_t offset) const {
  std::uint8_t header[frame_header_bytes];
  if (offset + frame_header_bytes > size_)
    throw InputError(place(path_, offset, "is cut off: the file is truncated at byte " + std::to_string(size_)));
  load(offset, header, sizeof header);
  Frame frame;
  frame.offset = offset;
  frame.type = static_cast<FrameType>(fetch<std::uint16_t>(header));
  frame.flags = fetch<std::uint16_t>(header + 2);
  const auto raw = fetch<std::uint32_t>(header + 4), compressed = fetch<std::uint32_t>(header + 8);
  if (raw > greatest_frame || compressed > greatest_frame)
    throw InputError(place(path_, offset, "announces more than 1 GiB: it is damaged"));
  if (offset + frame_header_bytes + compressed > size_)
    throw InputError(place(path_, offset, "is cut off: the file is truncated at byte " + std::to_string(size_)));
  frame.next = offset + frame_header_bytes + compressed;
  std::vector<std::uint8_t> bytes(compressed);
  load(offset + frame_header_bytes, bytes.data(), bytes.size());
  if (checksum_of_frame(header, bytes) != fetch<std::uint64_t>(header + checked_header_bytes))
    throw InputError(place(path_, offset, "is damaged: its checksum does not match"));
  frame.bytes.resize(raw);
  const std::size_t size = ZSTD_decompress(frame.bytes.data(), raw, bytes.data(), bytes.size());
  if (ZSTD_isError(size) || size != raw) throw InputError(place(path_, offset, "is damaged: it does not decompress"));
  return frame;
}

bool FrameReader::whole(std::uint64_t offset, Frame& frame) const {
  if (offset + frame_header_bytes > size_) return false;
  try {
    frame = read(offset);
    return true;
  } catch (const InputError&) { return false; }
}

std::uint64_t FrameReader::index_offset() const {
  std::uint8_t trailer[trailer_bytes] = {};
  if (size_ >= file_header_bytes + trailer_bytes) load(size_ - trailer_bytes, trailer, sizeof trailer);
  const bool ends = std::memcmp(trailer + 16, magic, sizeof magic) == 0 && checksum(trailer, 8) == fetch<std::uint64_t>(trailer + 8);
  if (!ends) {
    throw InputError(path_.string() + ": has no index at its end (byte " + std::to_string(size_) +
                     "): it is truncated; allowed: a whole trace, or one completed by 'homenode check --recover'");
  }
  return fetch<std::uint64_t>(trailer);
}

}  // namespace homenode::format
