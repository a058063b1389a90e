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

std::string readable_name(const std::string& symbol, bool fortran_program) {
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
