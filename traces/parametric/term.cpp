#include "traces/parametric/term.hpp"

#include <algorithm>

#include "sim/base/errors.hpp"

namespace homenode::parametric {
namespace {

std::uint64_t mixed(std::uint64_t state, std::uint64_t value) {  // the finaliser of splitmix64
  state += value + 0x9e3779b97f4a7c15u;
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9u;
  state = (state ^ (state >> 27)) * 0x94d049bb133111ebu;
  return state ^ (state >> 31);
}
std::uint64_t mixed(std::uint64_t state, const std::string& text) {
  for (const char character : text) state = mixed(state, static_cast<unsigned char>(character));
  return state;
}

std::uint64_t skeleton_of(const Term& term) {
  std::uint64_t state = mixed(0, static_cast<std::uint64_t>(term.shape));
  if (term.kind != nullptr) state = mixed(mixed(state, term.kind->identity), term.kind->fields.size());
  for (const TermPointer& child : term.children) state = mixed(state, child->skeleton);
  return mixed(state, term.children.size());
}

std::int64_t minus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

bool advances_alike(const Term& before, const Term& middle, const Term& after) {
  if (after.skeleton != middle.skeleton || middle.skeleton != before.skeleton) return false;
  for (std::size_t i = 0; i < middle.numbers.size(); ++i)
    if (minus(after.numbers[i], middle.numbers[i]) != minus(middle.numbers[i], before.numbers[i])) return false;
  return true;
}

// How often the `period` elements from `first` on come one after the other with constant differences.
std::size_t repetitions(const std::vector<TermPointer>& elements, std::size_t first, std::size_t period) {
  const std::size_t size = elements.size();
  if (first + period * least_repetitions > size) return 1;
  if (!advances_alike(*elements[first], *elements[first + period], *elements[first + 2 * period])) return 1;  // most often
  for (std::size_t k = 0; k < period; ++k)
    if (elements[first + k]->skeleton != elements[first + period + k]->skeleton) return 1;
  std::size_t last = first + 2 * period;
  while (last < size && advances_alike(*elements[last - 2 * period], *elements[last - period], *elements[last])) ++last;
  return (last - first) / period;
}

TermPointer repeat(const std::vector<TermPointer>& elements, std::size_t first, std::size_t period, std::size_t count) {
  Term term;
  term.shape = Term::Shape::repeat;
  term.children.assign(elements.begin() + static_cast<std::ptrdiff_t>(first),
                       elements.begin() + static_cast<std::ptrdiff_t>(first + period));
  term.numbers.push_back(static_cast<std::int64_t>(count));
  for (std::size_t k = first; k < first + period; ++k)
    term.numbers.insert(term.numbers.end(), elements[k]->numbers.begin(), elements[k]->numbers.end());
  for (std::size_t k = first; k < first + period; ++k)
    for (std::size_t i = 0; i < elements[k]->numbers.size(); ++i)
      term.numbers.push_back(minus(elements[k + period]->numbers[i], elements[k]->numbers[i]));
  term.skeleton = skeleton_of(term);
  return std::make_shared<const Term>(std::move(term));
}

// One pass from the first element on for repetitions of one period; true if anything became a repeat.
bool fold(std::vector<TermPointer>& elements, std::size_t period) {
  std::vector<TermPointer> folded;
  for (std::size_t i = 0; i < elements.size();) {
    const std::size_t count = repetitions(elements, i, period);
    if (count < least_repetitions) {
      if (!folded.empty()) folded.push_back(elements[i]);
      ++i;
      continue;
    }
    if (folded.empty()) folded.assign(elements.begin(), elements.begin() + static_cast<std::ptrdiff_t>(i));
    folded.push_back(repeat(elements, i, period, count));
    i += period * count;
  }
  if (folded.empty()) return false;
  elements = std::move(folded);
  return true;
}

std::string title(const Term& term) {
  if (term.shape == Term::Shape::record) return term.kind->title;
  if (term.children.empty()) return "nothing";
  return title(*term.children.front()) + (term.shape == Term::Shape::repeat ? ", repeated" : "");
}

std::string joined(const std::string& a, const std::string& b) { return a.empty() || b.empty() ? a + b : a + ": " + b; }

}  // namespace

TermPointer record(const RecordKind& kind, std::vector<std::int64_t> own, std::vector<TermPointer> children) {
  Term term;
  term.shape = Term::Shape::record;
  term.kind = &kind;
  term.children = std::move(children);
  term.numbers = std::move(own);
  for (const TermPointer& child : term.children) term.numbers.insert(term.numbers.end(), child->numbers.begin(), child->numbers.end());
  term.skeleton = skeleton_of(term);
  return std::make_shared<const Term>(std::move(term));
}

TermPointer list(std::vector<TermPointer> elements) {
  // The shortest period first, so that what repeats within a repeat is found before it.
  for (std::size_t period = 1; period <= longest_period && period * least_repetitions <= elements.size(); ++period)
    if (fold(elements, period)) period = 0;
  Term term;
  term.children = std::move(elements);
  for (const TermPointer& child : term.children) term.numbers.insert(term.numbers.end(), child->numbers.begin(), child->numbers.end());
  term.skeleton = skeleton_of(term);
  return std::make_shared<const Term>(std::move(term));
}

void expand(const Term& term, std::span<const std::int64_t> numbers,
            const std::function<void(const Term&, std::span<const std::int64_t>)>& visit) {
  std::int64_t visited = 0;
  const auto count = [&](std::int64_t more, const Term& of) {
    if (more > most_records - visited) {
      throw UsageError(title(of) + ": more than " + std::to_string(most_records) + " of them; that is too large a trace");
    }
    visited += more;
  };
  const auto each = [&](const auto& self, const Term& of, std::span<const std::int64_t> values) -> void {
    std::size_t next = 0;
    for (const TermPointer& child : of.children) {
      const std::span<const std::int64_t> own = values.subspan(next, child->numbers.size());
      next += own.size();
      if (child->shape == Term::Shape::record) {
        count(1, *child);
        visit(*child, own);
        continue;
      }
      const std::size_t body = child->body();
      if (own[0] < 0) throw UsageError(title(*child) + " would occur " + std::to_string(own[0]) + " times; ask for a larger size");
      count(own[0], *child);  // at least one record each; before any is made
      visited -= own[0];
      std::vector<std::int64_t> occurrence(own.begin() + 1, own.begin() + 1 + static_cast<std::ptrdiff_t>(body));
      for (std::int64_t times = 0; times < own[0]; ++times) {
        self(self, *child, occurrence);
        for (std::size_t i = 0; i < body; ++i)
          occurrence[i] =
              static_cast<std::int64_t>(static_cast<std::uint64_t>(occurrence[i]) + static_cast<std::uint64_t>(own[1 + body + i]));
      }
    }
  };
  each(each, term, numbers);
}

std::string place_of(const Term& term, std::size_t number) {
  if (term.shape == Term::Shape::record) {
    const std::size_t own = term.kind->fields.size();
    if (number < own) return joined(term.kind->title, term.kind->fields[number]);
    number -= own;
  }
  std::string end;
  if (term.shape == Term::Shape::repeat) {
    if (number == 0) return "how often " + title(*term.children.front()) + " occurs";
    if (--number >= term.body()) {
      number -= term.body();
      end = ", from one occurrence to the next";
    }
  }
  for (const TermPointer& child : term.children) {
    if (number < child->numbers.size())
      return joined(term.shape == Term::Shape::record ? term.kind->title : "", place_of(*child, number)) + end;
    number -= child->numbers.size();
  }
  return title(term);
}

std::string first_difference(const Term& a, const Term& b) {
  if (a.shape != b.shape || (a.kind != nullptr && a.kind->identity != b.kind->identity))
    return title(a) + " against " + (title(a) == title(b) ? "another form of it" : title(b));
  const std::string prefix = a.shape == Term::Shape::record && a.kind != nullptr ? a.kind->title : "";
  for (std::size_t i = 0; i < std::min(a.children.size(), b.children.size()); ++i)
    if (a.children[i]->skeleton != b.children[i]->skeleton) return joined(prefix, first_difference(*a.children[i], *b.children[i]));
  const auto& longer = a.children.size() > b.children.size() ? a : b;
  const std::size_t common = std::min(a.children.size(), b.children.size());
  if (longer.children.size() == common) return title(a);
  return joined(prefix, "lists of " + std::to_string(a.children.size()) + " and " + std::to_string(b.children.size()) +
                            " parts, the first in excess being " + title(*longer.children[common]));
}

}  // namespace homenode::parametric
