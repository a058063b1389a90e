// The translation buffer for small pages: how many it reaches, how it is divided into sets, what a miss costs, how many walks overlap.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "models/machines/native/chase.hpp"
#include "models/machines/native/measure.hpp"

namespace homenode::native {
namespace {

// Nanoseconds of a load that waits for none, line after line in the order in which a chase goes through them.
template <class Place>
double independent_nanoseconds(std::size_t lines, Place place, unsigned repeats) {
  std::vector<const char*> order(lines);
  std::size_t line = 0;
  for (const char*& address : order) {
    address = place(line);
    line = next_in_cycle(line, lines);
  }
  const std::size_t passes = (200'000 + lines - 1) / lines;
  double best = std::numeric_limits<double>::infinity();
  for (unsigned repeat = 0; repeat <= repeats; ++repeat) {
    std::uint64_t sum = 0;
    const double seconds = seconds_of([&] {
      for (std::size_t pass = 0; pass < passes; ++pass)
        for (const char* address : order) sum += *reinterpret_cast<const std::uint64_t*>(address);
      keep(sum);
    });
    if (repeat > 0) best = std::min(best, seconds / static_cast<double>(passes * lines) * 1e9);
  }
  return best;
}

// Addresses from which page numbers are known modulo the square of the sets: of those few are ever touched.
class Region {
public:
  static constexpr std::size_t alignment = std::size_t{1} << 30, bytes = std::size_t{1} << 30;

  Region() : memory_{mmap(nullptr, alignment + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)} {
    if (!given()) return;
    madvise(memory_, alignment + bytes, MADV_NOHUGEPAGE);
    data_ = reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(memory_) + alignment - 1) / alignment * alignment);
  }
  ~Region() {
    if (given()) munmap(memory_, alignment + bytes);
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  bool given() const { return memory_ != MAP_FAILED; }
  char* data() const { return data_; }

private:
  void* memory_;
  char* data_ = nullptr;
};

// Loads of pages that lie in few sets if the index is what it is taken for: more pages than a first level of translations holds.
class SetProbe {
public:
  SetProbe(char* data, std::size_t page, unsigned repeats) : data_{data}, page_{page}, repeats_{repeats} {}

  // Of a load where so many pages lie in each of the sets, over the same where they lie side by side.
  double slowdown(std::size_t pages, std::size_t sets, bool folded) const {
    const std::size_t groups = std::min((least_pages + pages - 1) / pages, sets), all = groups * pages;
    const auto of_group = [&](std::size_t number) {
      const std::size_t high = number / groups, group = number % groups;
      return high * sets + (folded ? (high ^ group) % sets : group);
    };
    return nanoseconds(all, of_group) / nanoseconds(all, [](std::size_t number) { return number; });
  }
  static bool has_room(std::size_t pages, std::size_t sets, std::size_t page) { return (pages + 1) * sets * page <= Region::bytes; }

private:
  static constexpr std::size_t least_pages = 192;

  template <class Page>
  double nanoseconds(std::size_t pages, Page page_of) const {
    const auto place = [&](std::size_t number) { return data_ + page_of(number) * page_ + number * line_bytes % page_; };
    link_lines(pages, place);
    return nanoseconds_of_a_chase(place(0), pages, repeats_).value;
  }

  char* data_;
  std::size_t page_;
  unsigned repeats_;
};

// One line a page, against as many lines side by side.
class LinesOfPages {
public:
  LinesOfPages(char* sparse, char* dense, std::size_t page, unsigned repeats)
      : sparse_{sparse}, dense_{dense}, page_{page}, repeats_{repeats} {}

  // Nanoseconds of a load that waits for the one before; the median over the median.
  Spread excess(std::size_t pages) const {
    link_lines(pages, [&](std::size_t line) { return beside(line); });
    const Spread side_by_side = nanoseconds_of_a_chase(dense_, pages, repeats_);
    link_lines(pages, [&](std::size_t number) { return apart(number); });
    const Spread one_a_page = nanoseconds_of_a_chase(sparse_, pages, repeats_);
    Spread found = least({one_a_page.low - side_by_side.value, one_a_page.high - side_by_side.value});
    found.median = one_a_page.median - side_by_side.median;
    return found;
  }
  // Of a load that waits for none.
  double independent_excess(std::size_t pages) const {
    return std::max(0.0, independent_nanoseconds(
                             pages, [&](std::size_t number) { return apart(number); }, repeats_) -
                             independent_nanoseconds(
                                 pages, [&](std::size_t line) { return beside(line); }, repeats_));
  }

  // Likewise, of lines that the first cache has, in the order of their addresses: nothing but the loads takes time.
  double excess_in_order(std::size_t pages) const {
    return in_order(sparse_, page_ + line_bytes, pages) - in_order(dense_, line_bytes, pages);
  }

private:
  double in_order(const char* data, std::size_t stride, std::size_t lines) const {
    constexpr std::size_t at_once = 8, loads = 100'000;
    double best = std::numeric_limits<double>::infinity();
    for (unsigned repeat = 0; repeat <= 4 * repeats_; ++repeat) {
      std::array<std::uint64_t, at_once> sums{};
      const double seconds = seconds_of([&] {
        for (std::size_t pass = 0; pass < loads / lines; ++pass) {
          const char* at = data;
          for (std::size_t line = 0; line + at_once <= lines; line += at_once, at += at_once * stride)
            for (std::size_t next = 0; next < at_once; ++next) sums[next] += *reinterpret_cast<const std::uint64_t*>(at + next * stride);
          for (const std::uint64_t sum : sums) keep(sum);
        }
      });
      if (repeat > 0) best = std::min(best, seconds / static_cast<double>(loads / lines * lines) * 1e9);
    }
    return best;
  }

  char* beside(std::size_t line) const { return dense_ + line * line_bytes; }
  // Line p lies at another place of page p, so that the pages' lines do not fall into the same sets.
  char* apart(std::size_t number) const { return sparse_ + number * page_ + number * line_bytes % page_; }

  char *sparse_, *dense_;
  std::size_t page_;
  unsigned repeats_;
};

// What lies between the fewest pages, which are in any first level, and 256, whose lines the first cache and whose translations the second
// level have: the step, if there is one of a cycle at least.
void first_level(const LinesOfPages& lines, TranslationBuffer& buffer) {
  constexpr std::size_t beyond = 256;
  constexpr double a_step = 0.3;
  const double step = lines.excess(beyond).value;
  if (buffer.entries <= beyond || step < a_step) return;
  for (const std::size_t pages : {16, 24, 32, 40, 48, 56, 64, 72, 80, 96, 112, 128, 160, 192}) {
    if (lines.excess(pages).value >= step / 2) break;
    buffer.first_entries = static_cast<unsigned>(pages);
  }
  if (buffer.first_entries == 0) return;
  buffer.first_nanoseconds = step;
  buffer.first_independent_nanoseconds = std::max(0.0, lines.excess_in_order(beyond));
}

}  // namespace

TranslationBuffer translation_buffer(std::size_t page, unsigned repeats) {
  constexpr std::size_t most_pages = 8192;
  const Buffer sparse{most_pages * page, Buffer::Pages::small}, dense{most_pages * line_bytes};
  const LinesOfPages lines{sparse.data(), dense.data(), page, repeats};
  std::vector<std::pair<std::size_t, Spread>> excess;  // by number of pages
  for (std::size_t pages = 16; pages <= most_pages; pages *= 2) excess.push_back({pages, lines.excess(pages)});
  const Spread last = excess.back().second;
  TranslationBuffer buffer;
  if (last.low <= 1) return buffer;  // less than a nanosecond is noise
  buffer.miss_nanoseconds = last;
  for (const auto& [pages, cost] : excess)
    if (cost.value < last.value / 2) buffer.entries = static_cast<unsigned>(pages);
  first_level(lines, buffer);
  buffer.independent_nanoseconds = lines.independent_excess(most_pages);
  return buffer;
}

unsigned reached_pages(std::size_t page, const TranslationBuffer& buffer, unsigned repeats) {
  constexpr std::size_t parts = 8, most = 32;
  const Buffer sparse{buffer.entries * most / parts * page, Buffer::Pages::small}, dense{buffer.entries * most / parts * line_bytes};
  const LinesOfPages lines{sparse.data(), dense.data(), page, repeats};
  // Between a load that the second level serves and one that it does not.
  const double half = (buffer.first_nanoseconds + buffer.miss_nanoseconds.value) / 2;
  std::size_t part = parts / 2;
  while (part < most && lines.excess(buffer.entries * (part + 1) / parts).median < half) ++part;
  return static_cast<unsigned>(buffer.entries * part / parts);
}

TranslationSets translation_sets(std::size_t page, unsigned entries, unsigned repeats) {
  const Region region;
  if (!region.given()) return {};
  const SetProbe probe{region.data(), page, repeats};
  constexpr std::size_t most_ways = 32;
  constexpr double slow = 1.5;
  // First with a few pages more than a set of so many entries should have, then with twice as many, for there may be nearly twice as many
  // entries. From many sets on: pages that lie in one of few sets lie in several of many.
  for (const std::size_t times : {1, 2})
    for (std::size_t sets = 512; sets >= 16; sets /= 2) {
      const std::size_t ways = std::max<std::size_t>(entries / sets, 2);
      if (ways > most_ways) break;
      if (!SetProbe::has_room(2 * most_ways, sets, page)) continue;
      for (const bool folded : {false, true}) {
        if (probe.slowdown(times * ways + 2, sets, folded) < slow) continue;
        // Behind the last number of pages of which fewer than a quarter miss. Replacement is not quite least recently used: a set of 16
        // ways loses some of 17 and nearly all of 19.
        const double quarter = 1 + (probe.slowdown(2 * times * ways + 2, sets, folded) - 1) / 4;
        std::size_t held = ways / 2;
        while (held < 2 * most_ways && probe.slowdown(held + 1, sets, folded) < quarter) ++held;
        return {.ways = static_cast<unsigned>(held), .sets = static_cast<unsigned>(sets), .folded = folded};
      }
    }
  return {};
}

}  // namespace homenode::native
