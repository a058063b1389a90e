#include "traces/importers/lackey.hpp"

namespace homenode {
namespace {

constexpr const char* allowed =
    "; allowed: 'I  address,size', ' L address,size', ' S address,size', ' M address,size' and valgrind's own lines '==pid== …'";

}  // namespace

std::vector<Recorded> LackeyText::lacks() const {
  return {Recorded::objects,         Recorded::heap_calls,
          Recorded::iterations,      Recorded::work,
          Recorded::dependence,      Recorded::streamable_stores,
          Recorded::synchronisation, Recorded::threads,
          Recorded::thread_creation, Recorded::marks};
}

bool LackeyText::next(ImportedAccess& access) {
  access.instructions = 0;
  std::string_view line;
  while (lines_.next(line)) {
    if (!lines_.has_end()) lines_.fail("the file is cut off: " + in_quotes(line) + " has no end; allowed: whole lines");
    if (line.starts_with("I  ")) {
      place(line.substr(3), access);
      site_ = access.address;
      ++access.instructions;
      continue;
    }
    if (line.starts_with("==")) {
      own_words(line);
      continue;
    }
    const bool data = line.size() > 3 && line[0] == ' ' && line[2] == ' ';
    switch (data ? line[1] : '\0') {
      case 'L': access.kind = AccessKind::read; break;
      case 'S': access.kind = AccessKind::write; break;
      case 'M': access.kind = AccessKind::read_modify_write; break;
      default: lines_.fail("found " + in_quotes(line) + allowed);
    }
    place(line.substr(3), access);
    access.site = site_;
    return true;
  }
  return false;
}

void LackeyText::place(std::string_view text, ImportedAccess& access) const {
  const std::size_t comma = text.find(',');
  const auto address = hexadecimal(text.substr(0, comma));
  if (comma == std::string_view::npos || !address) lines_.fail("found address " + in_quotes(text.substr(0, comma)) + allowed);
  const auto size = decimal(text.substr(comma + 1));
  if (!size || *size < 1 || *size > ImportedAccess::widest) {
    lines_.fail("found size " + in_quotes(text.substr(comma + 1)) + "; allowed: 1 to " + std::to_string(ImportedAccess::widest) + " bytes");
  }
  if (*address + (*size - 1) < *address) lines_.fail("found " + in_quotes(text) + ", which goes on beyond the last address");
  access.address = *address;
  access.width = static_cast<std::uint16_t>(*size);
}

void LackeyText::own_words(std::string_view line) {
  const std::size_t end = line.find("==", 2);
  const auto process = decimal(line.substr(2, end == std::string_view::npos ? end : end - 2));
  if (end == std::string_view::npos || !process) lines_.fail("found " + in_quotes(line) + allowed);
  if (process_ && *process_ != *process) {
    lines_.fail("found lines of processes " + std::to_string(*process_) + " and " + std::to_string(*process) +
                ", whose accesses cannot be told apart; allowed: one process a file (valgrind --log-file=NAME.%p)");
  }
  process_ = process;
  const std::string_view words = line.substr(end + 2);
  constexpr std::string_view command = " Command: ";
  if (words.starts_with(command) && program_.empty()) {
    const std::string_view all = words.substr(command.size());
    const std::size_t space = all.find(' ');
    program_ = all.substr(0, space);
    if (space != std::string_view::npos) arguments_ = all.substr(space + 1);
  }
  if (words.starts_with(" Exit code:")) ended_ = true;
}

}  // namespace homenode
