// The CSV form: a header line that names the columns, then one access a line. docs/guide.md says what the columns hold.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "traces/importers/source.hpp"
#include "traces/importers/text.hpp"

namespace homenode {

class CsvTable final : public ImportSource {
public:
  static constexpr std::size_t most_threads = 4096;
  static constexpr std::uint64_t last_item = 0xFFFFFFFF;

  // Reads the header.
  explicit CsvTable(const std::filesystem::path&);
  bool next(ImportedAccess&) override;
  Owners owners() const override { return owners_; }
  bool has_sites() const override { return position(Column::site).has_value(); }
  std::vector<Recorded> lacks() const override;
  std::string tool() const override { return "csv"; }
  std::uint64_t bytes_read() const override { return lines_.bytes_read(); }
  [[noreturn]] void fail(const std::string& message) const override { lines_.fail(message); }

private:
  enum class Column : std::uint8_t { thread, item, address, size, kind, sequence, site };
  static constexpr std::size_t columns = 7;
  static const std::array<const char*, columns> names;
  struct Last {
    std::uint64_t sequence = 0, line = 0;
  };

  std::optional<std::size_t> position(Column column) const { return position_[static_cast<std::size_t>(column)]; }
  bool line(std::string_view&);
  void header(std::string_view);
  void split(std::string_view);
  std::string_view field(Column column) const { return fields_[*position(column)]; }
  std::uint64_t number(Column) const;
  void check_owner(std::uint64_t owner);
  void check_sequence(std::uint64_t owner);

  TextLines lines_;
  Owners owners_ = Owners::one;
  std::array<std::optional<std::size_t>, columns> position_;  // in a line, by column
  std::array<std::string_view, columns> fields_;              // of the line
  std::size_t used_ = 0;
  std::uint64_t owner_ = 0;                       // of the line before
  std::unordered_map<std::uint64_t, Last> last_;  // by thread; of items, the current one
};

}  // namespace homenode
