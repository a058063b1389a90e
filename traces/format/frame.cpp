#include "traces/format/frame.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "sim/base/errors.hpp"

namespace homenode::format {
namespace {

// The first byte and the line ends show a file that went through a text-mode transfer, as in PNG.
constexpr std::array<std::uint8_t, 8> magic{0x89, 'H', 'N', 'T', '\r', '\n', 0x1A, '\n'};
constexpr std::array<std::uint8_t, 8> trailer_magic{'H', 'N', 'T', 'F', 'O', 'O', 'T', '\n'};
constexpr std::uint32_t frame_marker = 0x52464E48;  // "HNFR"
constexpr std::uint16_t critical_flag = 1;
constexpr int compression_level = 3;
constexpr std::uint32_t skippable_marker = 0x184D2A50;  // RFC 8878, section 3.1.2: readers of zstd pass over such a frame
constexpr std::size_t skippable_header = 8;

void put_little(std::uint8_t* out, std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) out[i] = static_cast<std::uint8_t>(value >> (8 * i));
}
std::uint64_t get_little(const std::uint8_t* in, unsigned bytes) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < bytes; ++i) value |= std::uint64_t{in[i]} << (8 * i);
  return value;
}

std::uint64_t checksum(const std::uint8_t* header, const std::uint8_t* payload, std::size_t size) {
  return XXH64(payload, size, XXH64(header, 24, 0));
}

// Appends so many zeros that the frame is `size` bytes long.
void pad(std::vector<std::uint8_t>& frame, std::size_t size) {
  const std::size_t begin = frame.size();
  frame.resize(std::max(size, begin + skippable_header));
  put_little(frame.data() + begin, skippable_marker, 4);
  put_little(frame.data() + begin + 4, frame.size() - begin - skippable_header, 4);
}

std::string system_message() { return std::strerror(errno); }

// In a folder that others may write to, the name may have become a link to, or be a file of, somebody else's.
int open_part(const std::filesystem::path& part) {
  const int file = ::open(part.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
  if (file < 0) throw InputError(part.string() + ": cannot be created: " + system_message());
  struct stat status {};
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink != 1 || status.st_uid != ::geteuid() ||
      ::ftruncate(file, 0) != 0) {
    ::close(file);
    throw InputError(part.string() + ": cannot be written: it is there, and not a regular file of one's own with one name");
  }
  return file;
}

}  // namespace

FrameWriter::FrameWriter(std::filesystem::path target) : target_{std::move(target)}, part_{target_} {
  if (target_.extension() != ".part") part_ += ".part";
  file_ = open_part(part_);
  std::array<std::uint8_t, file_header_bytes> header{};
  std::memcpy(header.data(), magic.data(), magic.size());
  put_little(header.data() + 8, format_version, 4);
  put(header.data(), header.size());
}

FrameWriter::~FrameWriter() {
  if (file_ >= 0) ::close(file_);
}

void FrameWriter::put(const void* data, std::size_t size) {
  const auto* bytes = static_cast<const std::uint8_t*>(data);
  while (size > 0) {
    const ssize_t written = ::write(file_, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0)
      throw InputError(part_.string() + ": cannot be written at offset " + std::to_string(position_) + ": " + system_message());
    bytes += written;
    size -= static_cast<std::size_t>(written);
    position_ += static_cast<std::uint64_t>(written);
  }
}

std::uint64_t FrameWriter::write(RecordType type, const std::vector<std::uint8_t>& raw, bool critical) {
  return write(static_cast<std::uint16_t>(type), raw, critical);
}

std::uint64_t FrameWriter::write(std::uint16_t type, const std::vector<std::uint8_t>& raw, bool critical) {
  const std::uint64_t offset = position_;
  // Not a vector: of the room for the worst case most is never touched.
  const std::size_t room = ZSTD_compressBound(raw.size());
  const std::unique_ptr<std::uint8_t[]> payload{new std::uint8_t[room]};  // NOLINT(modernize-avoid-c-arrays)
  std::size_t stored = ZSTD_compress(payload.get(), room, raw.data(), raw.size(), compression_level);
  if (ZSTD_isError(stored)) throw Error(part_.string() + ": zstd: " + ZSTD_getErrorName(stored));
  compressed_.resize(frame_header_bytes);
  compressed_.insert(compressed_.end(), payload.get(), payload.get() + stored);
  unpacked_ += raw.size();
  if (const std::uint64_t there = most_unpacked(position_ + compressed_.size()); unpacked_ > there) {
    pad(compressed_, compressed_.size() + (unpacked_ - there) / 256 + 1);
    stored = compressed_.size() - frame_header_bytes;
  }
  std::uint8_t* header = compressed_.data();
  put_little(header, frame_marker, 4);
  put_little(header + 4, type, 2);
  put_little(header + 6, critical ? critical_flag : 0, 2);
  put_little(header + 8, raw.size(), 8);
  put_little(header + 16, stored, 8);
  put_little(header + 24, checksum(header, header + frame_header_bytes, stored), 8);
  put(header, frame_header_bytes + stored);
  return offset;
}

void FrameWriter::finish(std::uint64_t footer_offset) {
  std::array<std::uint8_t, trailer_bytes> trailer{};
  std::memcpy(trailer.data(), trailer_magic.data(), trailer_magic.size());
  put_little(trailer.data() + 8, footer_offset, 8);
  put_little(trailer.data() + 16, XXH64(trailer.data(), 16, 0), 8);
  put(trailer.data(), trailer.size());
  if (::fsync(file_) != 0) throw InputError(part_.string() + ": cannot be written: " + system_message());
  ::close(file_);
  file_ = -1;
  std::filesystem::rename(part_, target_);
}

FrameReader::FrameReader(std::filesystem::path path) : path_{std::move(path)} {
  file_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe is refused, not waited for
  if (file_ < 0) throw InputError(path_.string() + ": cannot be opened: " + system_message());
  try {
    struct stat status {};
    if (::fstat(file_, &status) != 0 || !S_ISREG(status.st_mode))
      throw InputError(path_.string() + ": not a regular file; a .hnt trace is allowed");
    size_ = static_cast<std::uint64_t>(status.st_size);
    if (size_ == 0) throw InputError(path_.string() + ": offset 0: the file is empty; a .hnt trace starts with a header of 16 bytes");
    std::array<std::uint8_t, file_header_bytes> header{};
    get(0, header.data(), std::min<std::uint64_t>(size_, header.size()));
    if (std::memcmp(header.data(), magic.data(), std::min<std::uint64_t>(size_, magic.size())) != 0) {
      throw InputError(path_.string() + ": offset 0: not a homenode trace: the first bytes are not \\x89HNT");
    }
    if (size_ < header.size()) {
      throw InputError(path_.string() + ": offset 0: the file is truncated: " + std::to_string(size_) + " bytes of a header of 16");
    }
    const std::uint64_t version = get_little(header.data() + 8, 4);
    if (version > format_version) {
      throw InputError(path_.string() + ": offset 8: format version " + std::to_string(version) + " is from the future; versions up to " +
                       std::to_string(format_version) + " are allowed; use a newer homenode");
    }
    if (version == 0 || get_little(header.data() + 12, 4) != 0) {
      throw InputError(path_.string() + ": offset 8: format version " + std::to_string(version) + " with reserved field " +
                       std::to_string(get_little(header.data() + 12, 4)) + "; version 1 with 0 is allowed");
    }
  } catch (...) {
    ::close(file_);
    throw;
  }
}

FrameReader::~FrameReader() { ::close(file_); }

void FrameReader::fail(std::uint64_t offset, const std::string& message) const {
  throw InputError(path_.string() + ": frame at offset " + std::to_string(offset) + ": " + message);
}

void FrameReader::get(std::uint64_t offset, void* data, std::size_t size) const {
  auto* bytes = static_cast<std::uint8_t*>(data);
  while (size > 0) {
    const ssize_t got = ::pread(file_, bytes, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(offset, "cannot be read: " + system_message());
    if (got == 0) fail(offset, "the file ends here; it became shorter while it was read");
    bytes += got;
    offset += static_cast<std::uint64_t>(got);
    size -= static_cast<std::size_t>(got);
  }
}

namespace {
constexpr const char* whole_or_recovered = "; allowed: a whole copy of the trace, or what 'homenode recover' keeps of this one";
}

Frame FrameReader::read(std::uint64_t offset) const {
  std::uint64_t next = 0;
  return read(
      offset, [](std::uint16_t) { return true; }, next);
}

Frame FrameReader::read(std::uint64_t offset, const std::function<bool(std::uint16_t)>& wanted, std::uint64_t& next) const {
  if (offset > size_ || size_ - offset < frame_header_bytes) {
    fail(offset, "truncated: " + std::to_string(size_ - std::min(size_, offset)) + " bytes remain; a frame's header has " +
                     std::to_string(frame_header_bytes) + whole_or_recovered);
  }
  std::array<std::uint8_t, frame_header_bytes> header{};
  get(offset, header.data(), header.size());
  if (get_little(header.data(), 4) != frame_marker) {
    fail(offset, "damaged: neither a frame nor the trailer begins here; a frame begins with HNFR");
  }
  Frame frame;
  frame.offset = offset;
  frame.type = static_cast<std::uint16_t>(get_little(header.data() + 4, 2));
  frame.critical = (get_little(header.data() + 6, 2) & critical_flag) != 0;
  const std::uint64_t raw = get_little(header.data() + 8, 8), stored = get_little(header.data() + 16, 8);
  const std::uint64_t remaining = size_ - offset - frame_header_bytes;
  if (stored > remaining) {
    fail(offset, "truncated: the frame holds " + std::to_string(stored) + " bytes, " + std::to_string(remaining) + " remain in the file" +
                     whole_or_recovered);
  }
  frame.raw_bytes = raw;
  std::vector<std::uint8_t> payload(stored);
  get(offset + frame_header_bytes, payload.data(), payload.size());
  const std::uint64_t expected = get_little(header.data() + 24, 8), found = checksum(header.data(), payload.data(), payload.size());
  if (found != expected) {
    fail(offset, "damaged: its checksum is " + std::to_string(found) + "; " + std::to_string(expected) + " is recorded");
  }
  if (raw > largest_raw_frame) {
    fail(offset, "a frame of " + std::to_string(raw) + " bytes; at most " + std::to_string(largest_raw_frame) + " are allowed");
  }
  next = offset + frame_header_bytes + stored;
  if (!wanted(frame.type)) return frame;
  if (raw > most_unpacked()) refuse_unpacked(offset);
  // zstd's own header bounds the size: a frame that claims more than it holds is refused before memory is taken for it.
  if (ZSTD_getFrameContentSize(payload.data(), payload.size()) != raw) {
    fail(offset, "its zstd data does not unpack to the " + std::to_string(raw) + " bytes that its header states");
  }
  frame.raw.resize(raw);
  const std::size_t unpacked = ZSTD_decompress(frame.raw.data(), frame.raw.size(), payload.data(), payload.size());
  if (ZSTD_isError(unpacked) || unpacked != raw) fail(offset, "its zstd data cannot be unpacked");
  return frame;
}

void FrameReader::refuse_unpacked(std::uint64_t offset) const {
  fail(offset, "unpacks the file to more than " + std::to_string(most_unpacked()) + " bytes, the most that " + std::to_string(size_) +
                   " bytes may");
}

void FrameReader::walk(const std::function<bool(std::uint16_t)>& wanted, const std::function<void(const Frame&)>& visit,
                       bool whole_frames_only) const {
  std::uint64_t offset = file_header_bytes, last = 0, unpacked = 0;
  while (true) {
    std::array<std::uint8_t, trailer_bytes> trailer{};
    const std::uint64_t remaining = size_ - offset;
    if (remaining == 0) {
      if (whole_frames_only) return;
      fail(offset, "truncated: the file ends without its trailer; what is there can be kept with recover");
    }
    get(offset, trailer.data(), std::min<std::uint64_t>(remaining, trailer.size()));
    if (std::memcmp(trailer.data(), trailer_magic.data(), std::min<std::uint64_t>(remaining, trailer_magic.size())) == 0) {
      if (whole_frames_only) return;
      if (remaining < trailer_bytes) fail(offset, "truncated: " + std::to_string(remaining) + " bytes of the trailer's 24");
      if (remaining > trailer_bytes) fail(offset, "damaged: " + std::to_string(remaining - trailer_bytes) + " bytes follow the trailer");
      if (get_little(trailer.data() + 16, 8) != XXH64(trailer.data(), 16, 0)) fail(offset, "damaged: the trailer's checksum is wrong");
      if (get_little(trailer.data() + 8, 8) != last) fail(offset, "damaged: the trailer does not point to the last frame");
      return;
    }
    std::uint64_t next = offset;
    Frame frame;
    try {
      frame = read(offset, wanted, next);
      if (frame.type <= last_record_type && (unpacked += frame.raw_bytes) > most_unpacked()) refuse_unpacked(offset);
    } catch (const InputError&) {
      if (whole_frames_only) return;
      throw;
    }
    visit(frame);
    last = offset;
    offset = next;
  }
}

}  // namespace homenode::format
