#include "traces/capture/assembler/names.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace homenode {

namespace {

bool opens(char c) { return c == '<' || c == '(' || c == '{' || c == '['; }
bool closes(char c) { return c == '>' || c == ')' || c == '}' || c == ']'; }

// `result name(parameters) const` becomes `name`.
std::string without_signature(std::string name) {
  const std::size_t last = name.rfind(')');
  if (last != std::string::npos && name.find("::", last) == std::string::npos) {
    int depth = 0;
    for (std::size_t at = last + 1; at-- > 0;) {
      depth += name[at] == ')' ? 1 : name[at] == '(' ? -1 : 0;
      if (depth != 0) continue;
      name.erase(at);
      break;
    }
  }
  if (name.find("operator") != std::string::npos) return name;  // its own spaces and signs: operator new, operator<
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    depth += opens(name[at]) ? 1 : closes(name[at]) ? -1 : 0;
    if (depth == 0 && name[at] == ' ') begin = at + 1;
  }
  return name.substr(begin);
}

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text{abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free};
  if (status != 0 || !text) return symbol;
  std::string name = without_signature(text.get());
  for (std::size_t at = 0; (at = name.find(", ", at)) != std::string::npos;) name.erase(at + 1, 1);
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

}  // namespace

namespace {

// Bytes of the character that begins at `at`; 0 if none does (RFC 3629: no overlong forms, no surrogates, at most 10FFFF).
std::size_t length_of_character(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  const unsigned low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80, high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  return length;
}

}  // namespace

std::string as_utf8(std::string text) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (std::all_of(text.begin(), text.end(), is_ascii)) return text;
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t length = length_of_character(text, at)) {
      result.append(text, at, length);
      at += length;
      continue;
    }
    constexpr const char* digits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(text[at++]);
    result += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
  }
  return result;
}

std::string readable_name(const std::string& raw, bool fortran_program) {
  const std::string symbol = as_utf8(raw);
  const std::size_t dot = symbol.find('.');
  const std::string head = symbol.substr(0, dot);
  std::string tail = dot == std::string::npos ? std::string{} : symbol.substr(dot);
  for (const char* clone : {".isra.", ".constprop.", ".part.", ".cold"})
    if (const std::size_t at = tail.find(clone); at != std::string::npos) tail.erase(at);
  if (head.starts_with("_Z")) return demangled(head) + tail;
  const std::size_t of_module = head.find("_MOD_");
  if (head.starts_with("__") && of_module != std::string::npos && of_module > 2)
    return head.substr(2, of_module - 2) + "::" + head.substr(of_module + 5) + tail;
  if (!fortran_program) return head + tail;
  if (head == "MAIN__") return "main" + tail;
  if (head.size() > 1 && head.back() == '_') return head.substr(0, head.size() - 1) + tail;
  return head + tail;
}

}  // namespace homenode
