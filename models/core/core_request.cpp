#include "models/core/core_request.hpp"

#include <charconv>
#include <sstream>

#include "sim/base/errors.hpp"
#include "sim/base/text.hpp"

namespace homenode {
namespace {

constexpr std::size_t most_bytes = 1 << 20;  // of one block
constexpr double most_each = 1e6;            // executions a misprediction

std::string quoted(std::string_view text) {
  std::string quoted{'\''};
  quoted += brief(text);
  return quoted += '\'';
}

class Reader {
public:
  CoreRequest read(std::istream& input) {
    for (std::string text; std::getline(input, text);) {
      ++line_;
      std::istringstream words{text};
      std::string kind;
      if (!(words >> kind)) continue;
      if (kind == "end") {
        if (request_.cpu.empty()) refuse("'end'", "a line 'cpu NAME' before it");
        check_sequences();
        return std::move(request_);
      }
      read_line(kind, words);
    }
    ++line_;
    refuse("the end of the input", "a line 'end' as the last one");
  }

private:
  [[noreturn]] void refuse(const std::string& found, const std::string& allowed) const {
    throw InputError("line " + std::to_string(line_) + ": found " + found + "; allowed: " + allowed);
  }

  void read_line(const std::string& kind, std::istringstream& words) {
    if (kind == "cpu")
      cpu(words);
    else if (kind == "block")
      block(words);
    else if (kind == "steps")
      steps(words);
    else if (kind == "wrong")
      wrong(words);
    else if (kind == "sequence")
      sequence(words);
    else
      refuse(quoted(kind), "cpu NAME, block ID BYTES [ADDRESS], steps ID BYTES..., wrong ID EXECUTIONS, sequence ID[*COUNT]..., end");
    std::string more;
    if (words >> more) refuse(quoted(more) + " behind the last word", "nothing more on this line");
  }

  std::uint64_t number(std::string_view text, int base, const std::string& what) const {
    std::uint64_t value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (status != std::errc{} || end != text.data() + text.size())
      refuse(quoted(text), what + ", a " + (base == 16 ? "hexadecimal" : "decimal") + " number of 64 bits");
    return value;
  }

  void cpu(std::istringstream& words) {
    if (!request_.cpu.empty()) refuse("a second line 'cpu'", "one");
    if (!(words >> request_.cpu)) refuse("'cpu' without a name", "cpu NAME");
  }

  void block(std::istringstream& words) {
    std::string id, bytes, address;
    if (!(words >> id >> bytes)) refuse("'block' without its bytes", "block ID BYTES [ADDRESS]");
    CoreRequest::Block read;
    add_bytes(read, bytes);
    if (words >> address) read.address = number(address, 16, "the address of a block");
    if (!request_.blocks.try_emplace(number(id, 10, "the id of a block"), std::move(read)).second)
      refuse("block " + id + " again", "each once");
  }

  void add_bytes(CoreRequest::Block& block, const std::string& digits) const {
    if (digits.size() % 2 != 0 || block.bytes.size() + digits.size() / 2 > most_bytes)
      refuse("a block of " + std::to_string(digits.size()) + " digits", "two a byte, at most " + std::to_string(most_bytes) + " bytes");
    for (std::size_t at = 0; at < digits.size(); at += 2)
      block.bytes.push_back(static_cast<std::uint8_t>(number(std::string_view{digits}.substr(at, 2), 16, "bytes of a block")));
  }

  void steps(std::istringstream& words) {
    std::string id;
    if (!(words >> id)) refuse("'steps' without an id", "steps ID BYTES...");
    CoreRequest::Block read{.bytes = {}, .address = {}, .stepped = true};
    for (std::string bytes; words >> bytes;) {
      if (bytes.size() != 2 * CoreRequest::stepped_bytes)
        refuse("a step of " + std::to_string(bytes.size()) + " digits", std::to_string(2 * CoreRequest::stepped_bytes));
      add_bytes(read, bytes);
    }
    if (!request_.blocks.try_emplace(number(id, 10, "the id of a block"), std::move(read)).second)
      refuse("block " + id + " again", "each once");
  }

  void wrong(std::istringstream& words) {
    std::string id, executions;
    if (!(words >> id >> executions)) refuse("'wrong' without a number", "wrong ID EXECUTIONS");
    double each = 0;
    const auto [end, status] = std::from_chars(executions.data(), executions.data() + executions.size(), each);
    if (status != std::errc{} || end != executions.data() + executions.size() || !(each >= 1 && each <= most_each))
      refuse(quoted(executions), "executions of the block for each branch predicted wrong, 1 to 1e6");
    if (!request_.executions_a_misprediction.emplace(number(id, 10, "the id of a block"), each).second)
      refuse("'wrong " + id + "' again", "each once");
  }

  void sequence(std::istringstream& words) {
    std::vector<CoreRequest::Run> runs;
    std::uint64_t executions = 0;
    for (std::string word; words >> word;) {
      const std::string_view text = word;
      const auto star = text.find('*');
      CoreRequest::Run run{.block = number(text.substr(0, star), 10, "the id of a block")};
      if (star != std::string_view::npos) run.count = number(text.substr(star + 1), 10, "how often a block comes in a row");
      if (run.count == 0) refuse(quoted(word), "1 and more in a row");
      if (run.count > CoreRequest::most_executions - executions)
        refuse("a sequence of more than " + std::to_string(CoreRequest::most_executions) + " blocks", "as many");
      executions += run.count;
      if (!runs.empty() && runs.back().block == run.block)
        runs.back().count += run.count;
      else
        runs.push_back(run);
    }
    if (runs.empty()) refuse("'sequence' without blocks", "sequence ID[*COUNT]...");
    lines_.try_emplace(runs, line_);
    ++request_.sequences[std::move(runs)];
  }

  void check_sequences() {
    for (const auto& [runs, line] : lines_)
      for (const CoreRequest::Run& run : runs)
        if (!request_.blocks.contains(run.block)) {
          line_ = line;
          refuse("block " + std::to_string(run.block) + " in a sequence", "blocks that a line 'block' describes");
        }
  }

  CoreRequest request_;
  std::map<std::vector<CoreRequest::Run>, std::uint64_t> lines_;
  std::uint64_t line_ = 0;
};

}  // namespace

CoreRequest read_core_request(std::istream& input) { return Reader{}.read(input); }

}  // namespace homenode
