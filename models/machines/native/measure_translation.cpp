// The translation buffer for small pages: how many it reaches, how it is divided into sets, what a miss costs, how many walks overlap.
#include <sys/mman.h>

#include <algorithm>
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

}  // namespace

TranslationBuffer translation_buffer(std::size_t page, unsigned repeats) {
  constexpr std::size_t most_pages = 8192;
  const Buffer sparse{most_pages * page, Buffer::Pages::small}, dense{most_pages * line_bytes};
  const auto beside = [&](std::size_t line) { return dense.data() + line * line_bytes; };
  // Line p lies at another place of page p, so that the pages' lines do not fall into the same sets.
  const auto apart = [&](std::size_t number) { return sparse.data() + number * page + number * line_bytes % page; };
  std::vector<std::pair<std::size_t, Spread>> excess;  // of one line a page over lines side by side, by number of pages
  for (std::size_t pages = 16; pages <= most_pages; pages *= 2) {
    link_lines(pages, beside);
    const double side_by_side = nanoseconds_of_a_chase(dense.data(), pages, repeats).value;
    link_lines(pages, apart);
    const Spread one_a_page = nanoseconds_of_a_chase(apart(0), pages, repeats);
    excess.push_back({pages, least({one_a_page.low - side_by_side, one_a_page.high - side_by_side})});
  }
  const Spread last = excess.back().second;
  TranslationBuffer buffer;
  if (last.low <= 1) return buffer;  // less than a nanosecond is noise
  buffer.miss_nanoseconds = last;
  for (const auto& [pages, cost] : excess)
    if (cost.value < last.value / 2) buffer.entries = static_cast<unsigned>(pages);
  buffer.independent_nanoseconds =
      std::max(0.0, independent_nanoseconds(most_pages, apart, repeats) - independent_nanoseconds(most_pages, beside, repeats));
  return buffer;
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
