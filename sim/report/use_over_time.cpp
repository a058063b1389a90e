#include "sim/report/use_over_time.hpp"

#include <algorithm>

namespace homenode {

UseOverTime::UseOverTime(std::size_t resources, std::size_t most_intervals)
    : most_intervals_{std::max<std::size_t>(most_intervals / 2 * 2, 2)}, seconds_(resources) {}

void UseOverTime::add(std::size_t resource, Time from, Time to, double seconds) {
  if (!(seconds > 0)) return;
  const std::int64_t begin = from.count(), end = std::max(to.count(), begin + 1);
  std::vector<double>& into = seconds_[resource];
  auto first = static_cast<std::size_t>(begin >> width_bits_), last = static_cast<std::size_t>((end - 1) >> width_bits_);
  if (first == last && last < into.size()) {  // of each line, in engine `line`
    into[last] += seconds;
    return;
  }
  while (end > width() * static_cast<std::int64_t>(most_intervals_)) widen();
  first = static_cast<std::size_t>(begin >> width_bits_);
  last = static_cast<std::size_t>((end - 1) >> width_bits_);
  if (into.size() <= last) into.resize(last + 1, 0.0);
  if (first == last) {
    into[first] += seconds;
    return;
  }
  const double of_picosecond = seconds / static_cast<double>(end - begin);
  for (std::size_t interval = first; interval <= last; ++interval) {
    const auto opens = static_cast<std::int64_t>(interval) << width_bits_;
    into[interval] += of_picosecond * static_cast<double>(std::min(end, opens + width()) - std::max(begin, opens));
  }
}

void UseOverTime::widen() {
  ++width_bits_;
  for (std::vector<double>& of : seconds_) {
    for (std::size_t pair = 0; 2 * pair < of.size(); ++pair) of[pair] = of[2 * pair] + (2 * pair + 1 < of.size() ? of[2 * pair + 1] : 0);
    of.resize((of.size() + 1) / 2);
  }
}

}  // namespace homenode
