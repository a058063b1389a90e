// A text file line by line, in constant memory, and errors that say where in it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace homenode {

class TextLines {
public:
  static constexpr std::size_t longest = 65536;

  // Throws InputError if there is no such regular file: importers read it twice.
  explicit TextLines(std::filesystem::path);
  // The next line without its end; valid until the next call. Throws InputError for a line longer than `longest`.
  bool next(std::string_view& line);
  std::uint64_t number() const { return number_; }  // of the last line, from 1
  bool has_end() const { return has_end_; }         // the last line: whether a line feed ended it
  std::uint64_t bytes_read() const { return bytes_read_; }
  const std::filesystem::path& path() const { return path_; }
  // InputError "file:line: message".
  [[noreturn]] void fail(const std::string& message) const;

private:
  bool fill();

  std::filesystem::path path_;
  std::ifstream file_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, end_ = 0;
  std::uint64_t number_ = 0, bytes_read_ = 0;
  bool has_end_ = true;
};

// As a message quotes it: in quotes, what cannot be printed as \xNN, cut after 60 characters.
std::string in_quotes(std::string_view text);
// The whole text as a number; nothing if it is none or too large.
std::optional<std::uint64_t> decimal(std::string_view text);
std::optional<std::uint64_t> hexadecimal(std::string_view digits);

}  // namespace homenode
