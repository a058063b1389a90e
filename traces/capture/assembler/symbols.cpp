#include "traces/capture/assembler/symbols.hpp"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "traces/capture/assembler/names.hpp"

namespace homenode {

ModuleSymbols::ModuleSymbols(const std::filesystem::path& path) : path_{path} {
  std::ifstream file{path, std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
  const auto at = [&](std::uint64_t offset, std::uint64_t size) { return offset <= bytes.size() && size <= bytes.size() - offset; };
  Elf64_Ehdr header;
  if (!at(0, sizeof header)) return;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return;
  if (!at(header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr))) return;
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), bytes.data() + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  const auto text = [&](const Elf64_Shdr& table, std::uint64_t index) {
    if (index >= table.sh_size || !at(table.sh_offset, table.sh_size)) return std::string{};
    const char* begin = bytes.data() + table.sh_offset + index;
    return std::string{begin, strnlen(begin, table.sh_size - index)};
  };
  if (header.e_shstrndx >= sections.size()) return;
  for (const Elf64_Shdr& section : sections) {
    const std::string name = text(sections[header.e_shstrndx], section.sh_name);
    if (name.starts_with(".homenode.") && at(section.sh_offset, section.sh_size)) {
      std::string content = bytes.substr(section.sh_offset, section.sh_size);
      std::erase(content, '\0');
      sections_[name] = std::move(content);
    }
    if ((section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) || section.sh_link >= sections.size()) continue;
    if (!at(section.sh_offset, section.sh_size)) continue;
    for (std::uint64_t i = 0; i + sizeof(Elf64_Sym) <= section.sh_size; i += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, bytes.data() + section.sh_offset + i, sizeof symbol);
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_size == 0) continue;
      const unsigned type = ELF64_ST_TYPE(symbol.st_info);
      const std::string name = text(sections[section.sh_link], symbol.st_name);
      if (type == STT_FUNC) {
        functions_.try_emplace(symbol.st_value, Function{symbol.st_value + symbol.st_size, name});
        fortran_ |= name == "MAIN__";
      }
      if (type == STT_OBJECT || type == STT_TLS)
        variables_.push_back({symbol.st_value, symbol.st_size, readable_name(name, false), type == STT_TLS});
    }
  }
}

std::string ModuleSymbols::function(std::uint64_t offset) const {
  auto found = functions_.upper_bound(offset);
  if (found == functions_.begin()) return {};
  --found;
  return offset < found->second.end ? readable(found->second.name) : std::string{};
}

std::string ModuleSymbols::readable(const std::string& symbol) const { return readable_name(symbol, fortran_); }

std::string ModuleSymbols::section(const std::string& name) const {
  const auto found = sections_.find(name);
  return found == sections_.end() ? std::string{} : found->second;
}

namespace {

std::string_view system_header(std::string_view path) {
  for (const std::string_view folder : {"/usr/include/", "/usr/lib/"})
    if (path.starts_with(folder)) return path.substr(folder.size());
  return {};
}

}  // namespace

std::string source_name(const std::string& path) {
  const std::string clean = std::filesystem::path{path}.lexically_normal().string();
  const std::string_view header = system_header(clean);
  return header.empty() ? std::filesystem::path{clean}.filename().string() : std::string{header};
}

std::vector<std::vector<ModuleSymbols::Line>> ModuleSymbols::frames(const std::vector<std::uint64_t>& offsets) const {
  std::vector<std::vector<Line>> result(offsets.size());
  if (offsets.empty()) return result;
  std::string quoted;
  for (const char c : path_.string()) quoted += c == '\'' ? std::string{"'\\''"} : std::string{c};
  // With -a the address stands before the places of each offset, with -i there are several.
  std::string command = "addr2line -a -i -e '" + quoted + "'";
  char number[32];
  for (const std::uint64_t offset : offsets) {
    std::snprintf(number, sizeof number, " 0x%llx", static_cast<unsigned long long>(offset));
    command += number;
  }
  FILE* answer = ::popen((command + " 2>/dev/null").c_str(), "r");
  if (answer == nullptr) return result;
  char line[4096];
  std::size_t answered = 0;
  while (std::fgets(line, sizeof line, answer) != nullptr) {
    const std::string text{line};
    if (text.starts_with("0x") && text.find(':') == std::string::npos) {
      if (++answered > offsets.size()) break;
      continue;
    }
    const std::size_t colon = text.rfind(':');
    if (answered == 0 || colon == std::string::npos || text[0] == '?') continue;
    result[answered - 1].emplace_back(source_name(text.substr(0, colon)),
                                      static_cast<std::uint32_t>(std::strtoul(text.c_str() + colon + 1, nullptr, 10)));
  }
  ::pclose(answer);
  return result;
}

std::vector<ModuleSymbols::Line> ModuleSymbols::lines(const std::vector<std::uint64_t>& offsets, Inlined which) const {
  std::vector<Line> result;
  for (const std::vector<Line>& chain : frames(offsets)) {
    if (chain.empty()) {
      result.emplace_back();
      continue;
    }
    // Headers of the system have a folder in their name.
    const auto is_own = [](const Line& line) { return line.first.find('/') == std::string::npos; };
    const auto own = std::find_if(chain.begin(), chain.end(), is_own);
    if (which == Inlined::outermost)
      result.push_back(chain.back());
    else
      result.push_back(which == Inlined::innermost || own == chain.end() ? chain.front() : *own);
  }
  return result;
}

}  // namespace homenode
