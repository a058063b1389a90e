// What a program's file knows: functions and variables by address, lines by address, the wrapper's notes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace homenode {

struct Variable {
  std::uint64_t address = 0, bytes = 0;
  std::string name;
  bool thread_local_storage = false;
};

// A source as traces name it: without folders, for those are the host's. Headers of the system have theirs: c++/12/bits/stl_vector.h.
std::string source_name(const std::string& path);

class ModuleSymbols {
public:
  // An unreadable or foreign file has no symbols; never throws for one.
  explicit ModuleSymbols(const std::filesystem::path&);
  std::string function(std::uint64_t offset) const;  // its readable name, "" if unknown
  std::string readable(const std::string& symbol) const;
  const std::vector<Variable>& variables() const { return variables_; }
  // Content of a section that is not loaded, without zero bytes; "" if absent.
  std::string section(const std::string& name) const;
  // Of code that was inlined: the line in its own function, that in the function that it became a part of, or the innermost one outside of
  // the system's headers: std::vector's code is the line that calls it.
  enum class Inlined : std::uint8_t { innermost, outermost, own };
  // source_name and line of each offset, by binutils' addr2line; empty where it is missing.
  using Line = std::pair<std::string, std::uint32_t>;
  std::vector<Line> lines(const std::vector<std::uint64_t>& offsets, Inlined) const;
  // All of these, innermost first.
  std::vector<std::vector<Line>> frames(const std::vector<std::uint64_t>& offsets) const;

private:
  struct Function {
    std::uint64_t end;
    std::string name;
  };
  std::filesystem::path path_;
  std::map<std::uint64_t, Function> functions_;
  std::vector<Variable> variables_;
  bool fortran_ = false;  // its main program is
  std::map<std::string, std::string> sections_;
};

}  // namespace homenode
