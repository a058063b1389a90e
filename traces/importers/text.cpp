#include "traces/importers/text.hpp"

#include <charconv>
#include <cstring>
#include <utility>

#include "sim/base/errors.hpp"

namespace homenode {
namespace {

std::optional<std::uint64_t> number(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

}  // namespace

TextLines::TextLines(std::filesystem::path path) : path_{std::move(path)}, buffer_(16 * longest) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path_, error);
  if (!std::filesystem::exists(status)) throw InputError("no file '" + path_.string() + "'");
  if (!std::filesystem::is_regular_file(status)) {
    throw InputError("'" + path_.string() + "' is no regular file; allowed: one that can be read twice (not a folder, pipe or terminal)");
  }
  file_.open(path_, std::ios::binary);
  if (!file_) throw InputError("cannot read '" + path_.string() + "'");
}

bool TextLines::fill() {
  std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
  end_ -= at_;
  at_ = 0;
  file_.read(buffer_.data() + end_, static_cast<std::streamsize>(buffer_.size() - end_));
  if (file_.bad()) throw InputError("cannot read '" + path_.string() + "'");
  end_ += static_cast<std::size_t>(file_.gcount());
  return file_.gcount() > 0;
}

bool TextLines::next(std::string_view& line) {
  const auto find = [this](std::size_t from) { return static_cast<const char*>(std::memchr(buffer_.data() + from, '\n', end_ - from)); };
  const char* end = find(at_);
  if (end == nullptr) {
    while (end_ - at_ <= longest && fill()) {}
    end = find(at_);
  }
  const std::size_t size = end != nullptr ? static_cast<std::size_t>(end - buffer_.data()) - at_ : end_ - at_;
  if (end == nullptr && size == 0) return false;
  ++number_;
  if (size > longest) fail("a line of more than " + std::to_string(longest) + " characters");
  line = {buffer_.data() + at_, size};
  has_end_ = end != nullptr;
  at_ += size + (has_end_ ? 1 : 0);
  bytes_read_ += size + (has_end_ ? 1 : 0);
  return true;
}

void TextLines::fail(const std::string& message) const {
  throw InputError(path_.string() + ":" + std::to_string(number_) + ": " + message);
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t most = 60;
  constexpr const char* digits = "0123456789abcdef";
  std::string result = "'";
  for (const char character : text.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte < 0x20 || byte >= 0x7F)
      result += std::string("\\x") + digits[byte >> 4] + digits[byte & 15];
    else
      result += character;
  }
  return result + (text.size() > most ? "…'" : "'");
}

std::optional<std::uint64_t> decimal(std::string_view text) { return number(text, 10); }
std::optional<std::uint64_t> hexadecimal(std::string_view digits) { return number(digits, 16); }

}  // namespace homenode
