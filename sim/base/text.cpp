#include "sim/base/text.hpp"

#include <algorithm>

namespace homenode {
namespace {

unsigned byte_at(std::string_view text, std::size_t place) { return place < text.size() ? static_cast<unsigned char>(text[place]) : 0; }

bool within(unsigned value, unsigned low, unsigned high) { return value >= low && value <= high; }

// Bytes of the character at `place`; 0 if none begins there. Overlong forms and surrogates are none.
std::size_t length_of_character(std::string_view text, std::size_t place) {
  const unsigned first = byte_at(text, place), second = byte_at(text, place + 1);
  const auto follows = [&](std::size_t offset) { return within(byte_at(text, place + offset), 0x80, 0xBF); };
  if (first < 0x80) return 1;
  if (within(first, 0xC2, 0xDF)) return follows(1) ? 2 : 0;
  if (within(first, 0xE0, 0xEF)) {
    const bool good = within(second, first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF);
    return good && follows(2) ? 3 : 0;
  }
  if (within(first, 0xF0, 0xF4)) {
    const bool good = within(second, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF);
    return good && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

std::string escape(unsigned value) {
  static constexpr std::string_view digits = "0123456789ABCDEF";
  if (value == '\n') return "\\n";
  if (value == '\t') return "\\t";
  return {'\\', 'x', digits[value >> 4 & 15], digits[value & 15]};
}

bool is_control(std::string_view text, std::size_t place) {
  const unsigned first = byte_at(text, place);
  return first < 0x20 || first == 0x7F || (first == 0xC2 && within(byte_at(text, place + 1), 0x80, 0x9F));
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  const auto is_ascii = [](char letter) { return static_cast<unsigned char>(letter) < 0x80; };
  if (std::all_of(text.begin(), text.end(), is_ascii)) return std::string{text};
  std::string valid;
  for (std::size_t place = 0; place < text.size();) {
    const std::size_t length = length_of_character(text, place);
    if (length == 0)
      valid += escape(byte_at(text, place));
    else
      valid += text.substr(place, length);
    place += std::max<std::size_t>(length, 1);
  }
  return valid;
}

std::string brief(std::string_view text, std::size_t limit) {
  std::string shown;
  for (std::size_t place = 0; place < text.size();) {
    const std::size_t length = length_of_character(text, place);
    const bool escaped = length == 0 || is_control(text, place);
    const std::string next = escaped ? escape(byte_at(text, length == 2 ? place + 1 : place)) : std::string{text.substr(place, length)};
    if (shown.size() + next.size() > limit) return shown + "…";
    shown += next;
    place += std::max<std::size_t>(length, 1);
  }
  return shown;
}

}  // namespace homenode
