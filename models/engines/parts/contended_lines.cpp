#include "models/engines/parts/contended_lines.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "sim/machine/mixed_bits.hpp"

namespace homenode {
namespace {

// A slice that writes a line once hands it over once, as the caches have it.
constexpr double least_updates = 2;
// Plain stores wait in a buffer and enter the line together: they hand it over more rarely. It only decides which line is the busiest.
constexpr double plain_weight = 1.0 / 32;

// Of two slices' parts, as if both slices were equally long.
template <class Part>
double overlap(const Part& a, const Part& b) {
  return std::max(0.0, std::min(a.to, b.to) - std::max(a.from, b.from));
}

double weight(const Contention::Updates& updates) { return updates.atomic + plain_weight * updates.plain; }

}  // namespace

void Contention::Updates::add(const Updates& other, double times) {
  atomic += times * other.atomic;
  plain += times * other.plain;
  plain_read += times * other.plain_read;
}

void Contention::clear() {
  lines = 0;
  updates = late = busiest = {};
  writers.clear();
}

std::size_t ContendedLines::place_of(LineNumber line) { return mixed_bits(line.value()) % followed; }

void ContendedLines::begin(CoreId core, std::uint64_t time) {
  written_.resize(followed);
  known_.resize(followed);
  ++slice_;
  if (time != time_) {
    time_ = time;
    time_began_ = slice_;
    shared_.clear();
  }
  core_ = core;
  if (slice_of_.size() <= core.index()) slice_of_.resize(core.index() + 1);
  slice_of_[core.index()] = slice_;
  used_.clear();
}

void ContendedLines::add(const LineTouch& touch, std::uint64_t all) {
  const double accesses = static_cast<double>(touch.accesses) / static_cast<double>(touch.lines.size());
  Contention::Updates updates;
  if (touch.atomic)
    updates.atomic = accesses;
  else
    updates.plain = touch.reads ? accesses / 2 : accesses;
  if (touch.reads) updates.plain_read = updates.plain;
  for (LineNumber line = touch.lines.first; line != touch.lines.last; ++line) {
    const std::size_t place = place_of(line);
    const Written first{.line = line, .slice = slice_, .touches = 1, .from = all - touch.accesses, .to = all, .updates = updates};
    Written& written = written_[place];
    if (written.slice != slice_) {
      used_.push_back(static_cast<std::uint32_t>(place));
      written = first;
    } else if (written.line == line) {
      written.to = all;
      ++written.touches;
      written.updates.add(updates);
    } else if (written.updates.all() < least_updates) {
      written = first;
    }
  }
}

void ContendedLines::end(Contention& result, std::uint64_t accesses, bool ahead) {
  result.clear();
  Open open{&result, core_, {}};
  for (const std::uint32_t place : used_)
    if (written_[place].updates.all() >= least_updates) take(written_[place], static_cast<double>(accesses), open.lines);
  if (open.lines.empty()) return;
  if (ahead) {
    if (round_.empty()) round_began_ = slice_;
    round_.push_back(std::move(open));
    return;
  }
  since_ = 0;
  work_out(open, busiest(open.lines));
}

void ContendedLines::take(const Written& written, double accesses, std::vector<std::uint32_t>& lines) {
  Known& known = known_[place_of(written.line)];
  if (known.since < time_began_) {
    known = {written.line, slice_, static_cast<std::uint32_t>(shared_.size())};
    shared_.emplace_back();
  } else if (known.line != written.line) {
    if (shared_[known.shared].parts.size() > 1) return;
    known.line = written.line;
    shared_[known.shared].parts.clear();
  }
  const Part part{.core = core_,
                  .slice = slice_,
                  .accesses = accesses,
                  .touches = static_cast<double>(written.touches),
                  .from = static_cast<double>(written.from) / accesses,
                  .to = static_cast<double>(written.to) / accesses,
                  .updates = written.updates};
  std::vector<Part>& parts = shared_[known.shared].parts;
  const auto own = std::find_if(parts.begin(), parts.end(), [this](const Part& part) { return part.core == core_; });
  if (own != parts.end())
    *own = part;
  else
    parts.push_back(part);
  lines.push_back(known.shared);
}

// How often, by whoever writes it now.
double ContendedLines::handed_over(const Shared& shared) const {
  double all = 0, same = 0;
  for (const Part& part : shared.parts) {
    if (!counts(part)) continue;
    const double own = weight(part.updates);
    all += own;
    same += own * own;
  }
  return all > 0 ? all - same / all : 0;
}

std::uint32_t ContendedLines::busiest(const std::vector<std::uint32_t>& lines) const {
  const auto less = [this](std::uint32_t a, std::uint32_t b) { return handed_over(shared_[a]) < handed_over(shared_[b]); };
  return *std::max_element(lines.begin(), lines.end(), less);
}

void ContendedLines::end_round() {
  if (round_.empty()) return;
  since_ = round_began_;
  double most = -1;
  std::uint32_t busiest_line = 0;
  for (const Open& open : round_) {
    const std::uint32_t own = busiest(open.lines);
    if (const double times = handed_over(shared_[own]); times > most) std::tie(most, busiest_line) = std::pair{times, own};
  }
  for (const Open& open : round_) work_out(open, busiest_line);
  round_.clear();
}

// Updates by another core while this one writes the line.
double ContendedLines::of_other(const Part& own, const Part& other) const {
  if (!counts(other)) return 0;
  const bool goes_on = since_ == 0;
  return other.updates.all() * (goes_on ? own.accesses / other.accesses : 1) * overlap(own, other) / (other.to - other.from);
}

void ContendedLines::work_out(const Open& open, std::uint32_t busiest_line) const {
  Contention& result = *open.result;
  const std::uint32_t own_busiest =
      std::find(open.lines.begin(), open.lines.end(), busiest_line) != open.lines.end() ? busiest_line : busiest(open.lines);
  for (const std::uint32_t line : open.lines) {
    const std::vector<Part>& parts = shared_[line].parts;
    const auto own = std::find_if(parts.begin(), parts.end(), [&](const Part& part) { return part.core == open.core; });
    if (own == parts.end()) continue;  // another line has its place
    double others = 0, shared = 0;     // shared: part of the slice in which others write it, too
    for (const Part& part : parts) {
      if (part.core == open.core || !counts(part)) continue;
      others += of_other(*own, part);
      shared = std::max(shared, overlap(*own, part));
    }
    if (others <= 0) continue;
    const double updates = own->updates.all(), beside = updates * shared / (own->to - own->from);
    const double late = beside * others / (others + beside) - (knows_touches_ ? own->touches : 1);
    ++result.lines;
    result.updates.add(own->updates);
    if (late > 0) result.late.add(own->updates, late / updates);
    if (late > 0 && line == busiest_line) result.busiest.add(own->updates, late / updates);
    if (line != own_busiest) continue;
    for (const Part& part : parts)
      if (const double share = part.core == open.core ? 0 : of_other(*own, part) / others; share > 0)
        result.writers.push_back({part.core, share});
  }
  if (result.late.all() <= 0) result.clear();
}

}  // namespace homenode
