#include "models/machines/native/describe_translation.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <string_view>

namespace homenode {
namespace {

using native::Spread;

constexpr std::string_view left_note = "pages of which fewer than half miss where all are gone round";

class TranslationDescriber {
public:
  TranslationDescriber(DescribedFields& fields, const HostFigures& host) : fields_{fields}, host_{host} {}

  void describe() {
    const Spread entries = host_.of(figure::tlb_entries), miss = host_.of(figure::tlb_miss);
    const double page = host_.of("tlb/page").value;
    if (entries.value < 1) return;
    fields_.set("tlb.page", {page, page, page}, Fields::bytes_text);
    Spread reach = entries;
    const auto power = [](double number) { return std::exp2(std::round(std::log2(std::max(1.0, number)))); };
    reach.value = power(entries.value);
    reach.low = power(entries.low);
    reach.high = 2 * power(entries.high);
    const Spread left = host_.of(figure::tlb_reach);
    if (!translation_sets(reach.value, left)) {
      if (left.passes > 0)
        fields_.set("tlb.entries", resting_on(left, miss), Fields::count_text, std::string{left_note});
      else
        fields_.set("tlb.entries", resting_on(reach, miss), Fields::count_text, "to a power of two: the next one misses");
    }
    std::string walks;
    for (const std::size_t set : host_.plan.walked_sets)
      walks += "; over " + Fields::bytes_text(static_cast<double>(set)) + " small pages cost " +
               rounded(host_.of(figure::walk(set)).value, 1) + " ns a load";
    fields_.set("tlb.miss_penalty", miss, Fields::time_text, "one line a page against lines side by side" + walks);
    if (const Spread independent = host_.of(figure::tlb_independent); independent.passes > 0) {
      set_at_a_time("tlb.walks", miss, independent, 1);
    }
    first_translations();
    if (const Spread stream = host_.of(figure::stream_walk); stream.passes > 0)
      fields_.set("tlb.stream_walk", stream, Fields::time_text,
                  "a page of each of 1 to 8 streams of loads on small pages less the same on huge ones");
  }

private:
  using Fields = DescribedFields;

  // The first level, if most passes found one.
  void first_translations() {
    const Spread entries = host_.of(figure::tlb_first), miss = host_.of(figure::tlb_first_miss);
    if (2 * entries.passes <= host_.of(figure::tlb_entries).passes) return;
    fields_.set("tlb.first_entries", entries, Fields::count_text, "pages of which fewer than half miss, one line a page");
    fields_.set("tlb.first_miss_penalty", miss, Fields::time_text, "one line of each of 256 pages against lines side by side");
    const Spread independent = host_.of(figure::tlb_first_independent);
    if (independent.low <= 0) return;
    set_at_a_time("tlb.first_misses", miss, independent, 2);
  }

  // As many misses as do not wait for each other in the time of one.
  void set_at_a_time(const std::string& name, const Spread& waiting, const Spread& independent, int digits) {
    Spread number = resting_on(waiting, independent);
    number.value = std::clamp(waiting.value / independent.value, 1.0, 64.0);
    number.low = std::clamp(waiting.low / independent.high, 1.0, number.value);
    number.high = std::clamp(waiting.high / independent.low, number.value, 64.0);
    fields_.set(name, number, Fields::number_text,
                "loads that wait for each other over loads that do not, " + rounded(independent.value, digits) + " ns a miss");
  }

  // How the buffer is divided into sets, if most passes tell and their middle is a number of sets that comes to about as many entries as
  // were found by counting; that many it then has.
  bool translation_sets(double entries, const Spread& left) {
    const Spread ways = host_.of(figure::tlb_ways), sets = host_.of(figure::tlb_sets), folded = host_.of(figure::tlb_folded);
    // From 8 ways on no number that is odd is known; beside others a pass is off by one or two.
    const auto whole = [](double number) { return number < 8 ? std::round(number) : 2 * std::floor(std::round(number) / 2); };
    const double all = whole(ways.value) * sets.value;
    if (2 * ways.passes <= host_.of(figure::tlb_entries).passes || ways.value < 2 ||
        !std::has_single_bit(static_cast<unsigned>(sets.value)) || all < entries / 2 || all > 2 * entries ||
        std::round(folded.value) != folded.value)
      return false;
    // A program that needs them all has what the core's other thread leaves.
    const bool fewer = left.passes > 0 && left.value < all;
    const auto ways_left = [&](double pages) { return std::clamp(std::round(pages / sets.value), 1.0, whole(ways.value)); };
    const Spread rests = fewer ? resting_on(mapped(left, ways_left), ways) : resting_on(ways, sets);
    const auto number_of = [&](double number) { return fewer ? number : whole(number); };
    const std::string note = "pages of one set of which fewer than a quarter miss";
    fields_.set("tlb.entries", mapped(rests, [&](double number) { return number_of(number) * sets.value; }), Fields::count_text,
                Fields::count_text(sets.value) + " sets; by counting, to a power of two, " + Fields::count_text(entries) +
                    (fewer ? "; " + std::string{left_note} + ", for " + Fields::count_text(all) + " that few sets show" : ""));
    fields_.set("tlb.ways", mapped(rests, number_of), Fields::count_text,
                fewer ? std::string{left_note} + ", by set; in a few sets " + Fields::count_text(whole(ways.value)) + ", " + note : note);
    fields_.set(
        "tlb.index", folded, [](double number) { return std::string{number > 0 ? "folded" : "low"}; },
        "whether pages whose numbers' low bits are the same, or the XOR of two fields, lie in one set");
    fields_.without_bounds("tlb.index");
    return true;
  }

  DescribedFields& fields_;
  const HostFigures& host_;
};

}  // namespace

void describe_translation(DescribedFields& fields, const HostFigures& host) { TranslationDescriber{fields, host}.describe(); }

}  // namespace homenode
