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

// Updates by another core while this one writes the line.
double ContendedLines::of_other(const Part& own, const Part& other) const {
  if (other.core == own.core || !counts(other)) return 0;
  const bool goes_on = since_ == 0;
  return other.updates.all() * (goes_on ? own.accesses / other.accesses : 1) * overlap(own, other) / (other.to - other.from);
}

// How many of its updates come late, by whoever writes the line now.
double ContendedLines::late(const Part& own, const std::vector<Part>& parts) const {
  double others = 0, together = 0;  // together: part of the slice in which others write the line, too
  for (const Part& part : parts) {
    const double updates = of_other(own, part);
    others += updates;
    if (updates > 0) together = std::max(together, overlap(own, part));
  }
  if (others <= 0) return 0;
  const double beside = own.updates.all() * together / (own.to - own.from);
  return std::max(0.0, beside * others / (others + beside) - (knows_touches_ ? own.touches : 1));
}

// The one of the lines whose ownership changes most.
std::uint32_t ContendedLines::busiest(const std::vector<std::uint32_t>& lines) const {
  std::uint32_t found = lines.front();
  double most = -1;
  for (const std::uint32_t line : lines) {
    const std::vector<Part>& parts = shared_[line].parts;
    double all = 0;
    for (const Part& part : parts)
      if (counts(part)) all += weight(part.updates) / part.updates.all() * late(part, parts);
    if (all > most) std::tie(most, found) = std::pair{all, line};
  }
  return found;
}

void ContendedLines::end_round() {
  if (round_.empty()) return;
  since_ = round_began_;
  std::vector<std::uint32_t> lines;
  for (const Open& open : round_) lines.insert(lines.end(), open.lines.begin(), open.lines.end());
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  const std::uint32_t busiest_line = busiest(lines);
  for (const Open& open : round_) work_out(open, busiest_line);
  round_.clear();
}

void ContendedLines::work_out(const Open& open, std::uint32_t busiest_line) const {
  Contention& result = *open.result;
  double most = 0;
  for (const std::uint32_t line : open.lines) {
    const std::vector<Part>& parts = shared_[line].parts;
    const auto own = std::find_if(parts.begin(), parts.end(), [&](const Part& part) { return part.core == open.core; });
    if (own == parts.end()) continue;  // another line has its place
    const double late_ones = late(*own, parts), share = late_ones / own->updates.all();
    if (late_ones <= 0) continue;
    ++result.lines;
    result.updates.add(own->updates);
    result.late.add(own->updates, share);
    if (line == busiest_line) result.busiest.add(own->updates, share);
    if (late_ones <= most) continue;
    most = late_ones;
    name_writers(*own, parts, result.writers);
  }
}

void ContendedLines::name_writers(const Part& own, const std::vector<Part>& parts, std::vector<Contention::Writer>& writers) const {
  writers.clear();
  double all = 0;
  for (const Part& part : parts)
    if (const double updates = of_other(own, part); updates > 0) {
      writers.push_back({part.core, updates});
      all += updates;
    }
  for (Contention::Writer& writer : writers) writer.share /= all;
}

}  // namespace homenode
