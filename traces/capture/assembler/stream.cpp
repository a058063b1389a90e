#include "traces/capture/assembler/stream.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sim/base/errors.hpp"

namespace homenode {

CaptureStream::CaptureStream(int descriptor) : descriptor_{descriptor}, buffer_(1 << 20) {
  // So that neither end waits for the other at every turn; the default of 64 KiB serves as well where more is not allowed.
  ::fcntl(descriptor, F_SETPIPE_SZ, 1 << 20);
}

void CaptureStream::too_long() { throw InputError("the capture stream has a number of more than 64 bits"); }

std::uint64_t CaptureStream::u64_at_the_end() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    std::uint8_t b;
    if (!byte(b)) throw Ended{};
    value |= static_cast<std::uint64_t>(b & 127) << shift;
    if (b < 128) return value;
  }
  too_long();
}

std::string CaptureStream::text() {
  std::string value(u64(), '\0');
  for (char& c : value) {
    std::uint8_t b;
    if (!byte(b)) throw Ended{};
    c = static_cast<char>(b);
  }
  return value;
}

std::span<const std::uint8_t> CaptureStream::ahead(std::size_t least) {
  while (end_ - at_ < least) {
    if (at_ > 0) {
      std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
      end_ -= at_, at_ = 0, ++generation_;
    }
    if (buffer_.size() < least) buffer_.resize(least);
    const std::size_t got = get(end_);
    if (got == 0) break;
    end_ += got;
  }
  return {buffer_.data() + at_, end_ - at_};
}

bool CaptureStream::fill() {
  at_ = 0, ++generation_;
  end_ = get(0);
  return end_ > 0;
}

std::size_t CaptureStream::get(std::size_t at) {
  ssize_t got;
  do got = ::read(descriptor_, buffer_.data() + at, buffer_.size() - at);
  while (got < 0 && errno == EINTR);
  if (got < 0) throw InputError(std::string{"the capture stream cannot be read: "} + std::strerror(errno));
  received_ += static_cast<std::uint64_t>(got);
  return static_cast<std::size_t>(got);
}

}  // namespace homenode
