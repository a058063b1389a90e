#include "traces/importers/csv.hpp"

#include <algorithm>

#include "sim/base/errors.hpp"

namespace homenode {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

const std::array<const char*, CsvTable::columns> CsvTable::names{"thread", "item", "address", "size", "kind", "sequence", "site"};

CsvTable::CsvTable(const std::filesystem::path& path) : lines_{path} {
  std::string_view first;
  if (!line(first)) throw InputError("'" + path.string() + "' is empty; allowed: a header and one access a line");
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (first.starts_with(byte_order_mark)) first.remove_prefix(byte_order_mark.size());
  header(first);
}

bool CsvTable::line(std::string_view& text) {
  if (!lines_.next(text)) return false;
  if (text.ends_with('\r')) text.remove_suffix(1);
  return true;
}

void CsvTable::header(std::string_view text) {
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string name{trimmed(text.substr(at, end - at))};
    std::size_t column = 0;
    while (column < columns && name != names[column]) ++column;
    if (column == columns) {
      const std::string found = in_quotes(name);
      lines_.fail("in the header: " + unknown_name("column", found.substr(1, found.size() - 2), names));
    }
    if (position_[column]) lines_.fail("column '" + name + "' comes twice in the header; allowed: once");
    position_[column] = used_++;
    at = end + 1;
  }
  for (const Column needed : {Column::address, Column::size, Column::kind}) {
    if (position(needed)) continue;
    lines_.fail(std::string("the header has no column '") + names[static_cast<std::size_t>(needed)] +
                "'; allowed: address, size and kind, and if there is a need thread or item, sequence, site");
  }
  if (position(Column::thread) && position(Column::item)) lines_.fail("the header has columns 'thread' and 'item'; allowed: one of them");
  if (position(Column::thread)) owners_ = Owners::threads;
  if (position(Column::item)) owners_ = Owners::items;
}

void CsvTable::split(std::string_view text) {
  std::size_t found = 0;
  for (std::size_t at = 0; at <= text.size(); ++found) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    if (found < used_) fields_[found] = trimmed(text.substr(at, end - at));
    at = end + 1;
  }
  if (found != used_) {
    lines_.fail("found " + std::to_string(found) + " fields in " + in_quotes(text) + "; allowed: " + std::to_string(used_) +
                ", as in the header");
  }
}

std::uint64_t CsvTable::number(Column column) const {
  const std::string_view text = field(column);
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const auto value = hex ? hexadecimal(text.substr(2)) : decimal(text);
  if (!value) {
    lines_.fail(std::string(names[static_cast<std::size_t>(column)]) + " " + in_quotes(text) +
                "; allowed: a number of at most 64 bits, decimal or hexadecimal after 0x");
  }
  return *value;
}

bool CsvTable::next(ImportedAccess& access) {
  std::string_view text;
  if (!line(text)) return false;
  split(text);
  if (owners_ != Owners::one) {
    access.owner = number(owners_ == Owners::threads ? Column::thread : Column::item);
    check_owner(access.owner);
  }
  if (position(Column::sequence)) check_sequence(access.owner);
  access.address = number(Column::address);
  const std::uint64_t size = number(Column::size);
  if (size < 1 || size > ImportedAccess::widest) {
    lines_.fail("size " + in_quotes(field(Column::size)) + "; allowed: 1 to " + std::to_string(ImportedAccess::widest) +
                " bytes (a longer access is several lines)");
  }
  if (access.address + (size - 1) < access.address) {
    lines_.fail("address " + in_quotes(field(Column::address)) + " and size " + std::to_string(size) + " go on beyond the last address");
  }
  access.width = static_cast<std::uint16_t>(size);
  const std::string_view kind = field(Column::kind);
  if (kind == "read")
    access.kind = AccessKind::read;
  else if (kind == "write")
    access.kind = AccessKind::write;
  else if (kind == "modify")
    access.kind = AccessKind::read_modify_write;
  else if (kind == "atomic")
    access.kind = AccessKind::atomic;
  else
    lines_.fail("kind " + in_quotes(kind) + "; allowed: read, write, modify, atomic");
  if (position(Column::site)) access.site = number(Column::site);
  return true;
}

void CsvTable::check_owner(std::uint64_t owner) {
  if (owners_ == Owners::items) {
    if (owner > last_item) lines_.fail("item " + std::to_string(owner) + "; allowed: 0 to " + std::to_string(last_item));
    if (owner < owner_) {
      lines_.fail("item " + std::to_string(owner) + " after item " + std::to_string(owner_) +
                  "; allowed: lines in the order of their items (sort them by that column, keeping the order of lines within an item)");
    }
    if (owner != owner_) last_.clear();
    owner_ = owner;
    return;
  }
  last_.try_emplace(owner);
  if (last_.size() > most_threads) lines_.fail("more than " + std::to_string(most_threads) + " threads; allowed: at most so many");
}

void CsvTable::check_sequence(std::uint64_t owner) {
  const std::uint64_t sequence = number(Column::sequence);
  Last& last = last_[owner];
  if (last.line != 0 && sequence <= last.sequence) {
    const char* what = owners_ == Owners::threads ? " of its thread" : owners_ == Owners::items ? " of its item" : "";
    lines_.fail("sequence " + std::to_string(sequence) + " after " + std::to_string(last.sequence) + " (line " + std::to_string(last.line) +
                ")" + what + "; allowed: numbers that grow within a thread or item");
  }
  last = {sequence, lines_.number()};
}

std::vector<Recorded> CsvTable::lacks() const {
  std::vector<Recorded> result{Recorded::objects};
  result.push_back(Recorded::heap_calls);
  if (owners_ != Owners::items) result.push_back(Recorded::iterations);
  for (const Recorded what : {Recorded::work, Recorded::dependence, Recorded::streamable_stores, Recorded::synchronisation})
    result.push_back(what);
  if (owners_ == Owners::one) result.push_back(Recorded::threads);
  for (const Recorded what : {Recorded::thread_creation, Recorded::marks}) result.push_back(what);
  return result;
}

}  // namespace homenode
