// Text of `valgrind --tool=lackey --trace-mem=yes` (valgrind's lackey/lk_main.c):
//   I  address,size     an instruction; the accesses after it are its own
//    L address,size     load     S  store     M  modify: load and store of one instruction
//   ==pid== …           valgrind's own words
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "traces/importers/source.hpp"
#include "traces/importers/text.hpp"

namespace homenode {

class LackeyText final : public ImportSource {
public:
  explicit LackeyText(const std::filesystem::path& path) : lines_{path} {}
  bool next(ImportedAccess&) override;
  Owners owners() const override { return Owners::one; }
  bool has_sites() const override { return true; }
  std::vector<Recorded> lacks() const override;
  std::string tool() const override { return "valgrind lackey"; }
  std::uint64_t bytes_read() const override { return lines_.bytes_read(); }
  [[noreturn]] void fail(const std::string& message) const override { lines_.fail(message); }
  // Unless valgrind began to speak and did not say how the program ended.
  bool complete() const override { return !process_ || ended_; }
  std::string program() const override { return program_; }
  std::string arguments() const override { return arguments_; }

private:
  void own_words(std::string_view line);
  void place(std::string_view text, ImportedAccess&) const;

  TextLines lines_;
  std::optional<std::uint64_t> process_;
  bool ended_ = false;
  std::string program_, arguments_;
  std::uint64_t site_ = 0;
};

}  // namespace homenode
