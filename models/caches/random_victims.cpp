#include "models/caches/random_victims.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/machine/mixed_bits.hpp"
#include "sim/machine/random_sweep.hpp"

namespace homenode {

namespace {

// Of what is spread over places by a Poisson law of this mean: the share that falls to each of `classes` equal parts of the places, the
// emptiest first.
std::array<double, RandomVictims::classes> shares_of_equal_parts(double mean) {
  std::array<double, RandomVictims::classes> share{};
  constexpr double part = 1.0 / RandomVictims::classes;
  double left = part;
  std::size_t at = 0;
  for (unsigned n = 0; at < share.size(); ++n) {
    double chance = std::exp(n * std::log(mean) - mean - std::lgamma(n + 1.0));
    if (chance < 1e-12 && n > mean) chance = 1;  // the rest
    while (chance > 0 && at < share.size()) {
      const double taken = std::min(chance, left);
      share[at] += taken * n;
      chance -= taken;
      left -= taken;
      if (left > 0) break;
      left = part;
      ++at;
    }
  }
  double sum = 0;
  for (const double one : share) sum += one;
  for (double& one : share) one /= sum;
  return share;
}

}  // namespace

RandomVictims::RandomVictims(std::uint64_t lines, unsigned ways)
    : salt_{mixed_bits(lines)},
      stretch_{std::clamp<std::uint64_t>(std::bit_floor(lines / 64), 16, 256)},
      capacity_{static_cast<double>(lines) / classes},
      evicted_{1 / capacity_} {
  share_.fill(1.0 / classes);
  if (ways > 0 && ways < lines) share_ = shares_of_equal_parts(ways);
}

double RandomVictims::mean(const Clock& clock) {
  double sum = 0;
  for (const double one : clock) sum += one;
  return sum / classes;
}

// Neighbouring stretches follow the golden ratio through the classes, so that every range has of each class what it should.
std::size_t RandomVictims::class_of(std::uint64_t number) const {
  double place = static_cast<double>((number * 0x9e3779b97f4a7c15ULL + salt_) >> 11) * 0x1p-53;
  std::size_t at = 0;
  while (at + 1 < classes && place >= share_[at]) place -= share_[at++];
  return at;
}

std::uint64_t RandomVictims::start_of(std::uint64_t number) const { return mixed_bits(number ^ salt_) % stretch_; }

std::uint64_t RandomVictims::held_lines(std::size_t in_class, const Clock& since) const {
  return static_cast<std::uint64_t>(std::exp(since[in_class] - clock_[in_class]) * static_cast<double>(stretch_) + 0.5);
}

template <class Each>
void RandomVictims::for_each_stretch(LineRange lines, Each&& each) const {
  while (lines.first < lines.last) {
    const std::uint64_t number = lines.first.value() / stretch_;
    const LineRange part{lines.first, std::min(lines.last, LineNumber{(number + 1) * stretch_})};
    each(part, class_of(number));
    lines.first = part.last;
  }
}

void RandomVictims::filled(LineRange lines) {
  for_each_stretch(lines, [&](LineRange part, std::size_t in_class) { filled_[in_class] += static_cast<double>(part.size()); });
}

void RandomVictims::left(LineRange lines, const Clock& since) {
  for_each_stretch(lines, [&](LineRange part, std::size_t in_class) {
    const std::uint64_t held = held_lines(in_class, since), start = start_of(part.first.value() / stretch_);
    // Lines whose place is below `held`, of the first n of a stretch.
    const auto below = [&](std::uint64_t n) {
      const std::uint64_t before_wrap = std::min(n, stretch_ - start), behind = n - before_wrap;
      return std::min(std::max(held, start) - start, before_wrap) + std::min(held, behind);
    };
    const std::uint64_t first = part.first.value() % stretch_;
    filled_[in_class] -= static_cast<double>(below(first + part.size()) - below(first));
  });
}

void RandomVictims::settle() {
  for (std::size_t at = 0; at < classes; ++at) {
    if (filled_[at] <= capacity_) continue;
    clock_[at] += (filled_[at] - capacity_) * evicted_;
    filled_[at] = capacity_;
  }
}

RandomVictims::Fate RandomVictims::fate(LineRange lines, const Clock& since) const {
  const std::uint64_t number = lines.first.value() / stretch_, at = lines.first.value() % stretch_;
  const std::uint64_t held = held_lines(class_of(number), since), place = (at + start_of(number)) % stretch_;
  const std::uint64_t run = std::min((place < held ? held : stretch_) - place, stretch_ - at);
  return {place < held, std::min(run, lines.size())};
}

double RandomVictims::sweep_hits(double distance) const {
  double hits = 0;
  for (const double share : share_) hits += share * random_sweep_hits(distance * share / capacity_);
  return hits;
}

}  // namespace homenode
