// A trace as a term: records that have numbers and lists of records. The rest (kinds, sites, labels, the nesting of lists) is the
// term's skeleton. Elements of a list that occur at least three times in a row with constant differences become one repeat: count,
// first occurrence, differences. Repeats nest. So captures of one program at several sizes have equal skeletons and other
// numbers: a longer list is a larger count.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace homenode::parametric {

// What records of one kind have in common.
struct RecordKind {
  std::string identity;             // all that is no number
  std::string title;                // for people: "read at jacobi2d.c:31"
  std::vector<std::string> fields;  // names of its own numbers
};

struct Term;
using TermPointer = std::shared_ptr<const Term>;

struct Term {
  enum class Shape : std::uint8_t { record, list, repeat };
  Shape shape = Shape::list;
  const RecordKind* kind = nullptr;   // of a record
  std::uint64_t skeleton = 0;         // equal for terms that differ in numbers only
  std::vector<TermPointer> children;  // of a record: its lists
  // Record: its own numbers, then its children's. List: its elements'. Repeat: count, the first occurrence's, the differences.
  std::vector<std::int64_t> numbers;
  std::size_t body() const { return (numbers.size() - 1) / 2; }  // numbers of a repeat's occurrence
};

inline constexpr std::size_t least_repetitions = 3;
inline constexpr std::size_t longest_period = 512;

TermPointer record(const RecordKind&, std::vector<std::int64_t> own, std::vector<TermPointer> children = {});
TermPointer list(std::vector<TermPointer> elements);

// Calls visit(record, its numbers) for each record of a list, with the given numbers in place of the list's own. Repeats are written
// out. Throws UsageError if a count is negative, or if the records are more than `most_records`.
inline constexpr std::int64_t most_records = 50'000'000;
void expand(const Term& list, std::span<const std::int64_t> numbers,
            const std::function<void(const Term& record, std::span<const std::int64_t>)>& visit);

// Where a number stands: "region 'sweep': items: read at jacobi2d.c:31: offset".
std::string place_of(const Term&, std::size_t number);
// Where two terms of different skeletons first differ, and how.
std::string first_difference(const Term&, const Term&);

}  // namespace homenode::parametric
