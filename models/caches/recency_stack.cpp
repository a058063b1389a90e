#include "models/caches/recency_stack.hpp"

#include <cmath>
#include <utility>

namespace homenode {

namespace {
constexpr std::size_t initial_groups = 1024;
constexpr unsigned block_shift = 6;  // groups summed together
constexpr std::uint64_t block_groups = std::uint64_t{1} << block_shift;
// Beyond this many pieces (gathers: many streams of one line) the lines that the present group adds are not told apart.
constexpr std::size_t pieces_told_apart = 16;
constexpr double certain = 1e-3;  // chances within this of 0 or 1 are taken for certain
constexpr std::size_t chance_steps = 128;

// P(Binomial(d, 1 / sets) < ways)
double chance_of_a_hit(double d, double sets, unsigned ways) {
  const double share = 1.0 / sets;
  double log_term = d * std::log1p(-share);  // of i = 0
  double sum = 0;
  for (unsigned i = 0; i < ways; ++i) {
    if (static_cast<double>(i) > d) break;
    sum += std::exp(log_term);
    log_term += std::log((d - i) / (i + 1.0)) + std::log(share) - std::log1p(-share);
    if (static_cast<double>(i) >= d) break;
  }
  return std::min(sum, 1.0);
}

// The distance at which the chance has fallen to `bound`, below `most`.
template <class Chance>
double distance_at(double bound, double most, Chance&& chance) {
  double low = 0, high = most;
  while (high - low > 0.5) {
    const double middle = (low + high) / 2;
    (chance(middle) > bound ? low : high) = middle;
  }
  return (low + high) / 2;
}

// Which lines of a level share crowded sets is settled once for all: in every stretch of so many lines those are held whose
// place, counted from a start of the stretch's own, is below the chance.
constexpr std::uint64_t stretch = 256;
std::uint64_t place_in_stretch(LineNumber line) {
  std::uint64_t x = line.value() / stretch * 0x9e3779b97f4a7c15ULL;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ULL;
  return (line.value() + (x >> 32)) % stretch;
}
}  // namespace

StackBounds::StackBounds(const std::vector<StackLevel>& descriptions) {
  std::uint64_t farthest = 0;
  for (const StackLevel& description : descriptions) {
    Level& level = levels.emplace_back();
    level.near = level.far = distances.size();
    if (description.victim == Victim::random) {
      const RandomVictims victims{description.lines, description.ways};
      farthest = add_chances(level, 32.0 * static_cast<double>(description.lines) + 64, static_cast<double>(farthest),
                             [&](double distance) { return victims.sweep_hits(distance); });
      continue;
    }
    if (description.ways == 0 || description.ways >= description.lines) {
      farthest = std::max(farthest, description.lines);
      distances.push_back(farthest);
      continue;
    }
    const double sets = static_cast<double>(description.lines) / description.ways;
    const auto chance = [&](double distance) { return chance_of_a_hit(distance, sets, description.ways); };
    farthest = add_chances(level, 8.0 * sets * description.ways + 64, static_cast<double>(farthest), chance);
  }
  if (descriptions.size() == 1 && descriptions[0].victim == Victim::random) random.emplace(descriptions[0].lines, descriptions[0].ways);
}

// From the distance of which all is certain to that of which nothing is, at least `farthest`; returns the latter.
template <class Chance>
std::uint64_t StackBounds::add_chances(Level& level, double most, double farthest, Chance&& chance) {
  const double near = distance_at(1 - certain, most, chance), far = std::max(distance_at(certain, most, chance), farthest);
  for (std::size_t i = 0; i <= chance_steps; ++i)
    level.chance.push_back(static_cast<float>(chance(near + (far - near) * static_cast<double>(i) / static_cast<double>(chance_steps))));
  distances.push_back(static_cast<std::uint64_t>(near));
  level.far = distances.size();
  distances.push_back(static_cast<std::uint64_t>(far));
  return distances.back();
}

RecencyStack::RecencyStack(std::shared_ptr<const StackBounds> bounds)
    : bounds_(std::move(bounds)), live_(initial_groups, 0), blocks_(initial_groups / block_groups, 0) {
  random_ = bounds_->random;
  if (random_) clocks_.resize(initial_groups);
  if (!random_)
    for (const std::uint64_t distance : bounds_->distances) cursors_.push_back({distance, 0, 0});
}

void RecencyStack::look_up(LineRange range, unsigned touch, std::vector<StackPiece>& pieces) const {
  const float pace = 1.0F / static_cast<float>(range.size());
  LineNumber at = range.first;
  const auto absent = [&](LineNumber end) {
    StackPiece& piece = pieces.emplace_back();
    piece.lines = {at, end};
    piece.touch = touch;
    piece.level = static_cast<unsigned>(bounds_->levels.size());
    piece.now = pace * static_cast<float>(at - range.first);
    piece.pace = pace;
  };
  for (SegmentIndex s = segments_.first_in(range.first, range.last); s != no_segment; s = segments_.next_in(s, range.last)) {
    const LineSegment& segment = segments_[s];
    const LineRange lines = intersection(s, range);
    if (lines.first > at) absent(lines.first);
    StackPiece& piece = pieces.emplace_back();
    piece.lines = lines;
    piece.touch = touch;
    piece.present = true;
    piece.dirty = segment.dirty;
    piece.group = segment.group;
    piece.start = segment.start + segment.step * static_cast<float>(lines.first - segment.first);
    piece.step = segment.step;
    piece.now = pace * static_cast<float>(lines.first - range.first);
    piece.pace = pace;
    at = lines.last;
  }
  if (at < range.last) absent(range.last);
}

std::uint64_t RecencyStack::lines_of_groups(std::uint64_t first, std::uint64_t last) const {
  if (summed_.first != first || summed_.last != last) summed_ = {first, last, sum_of_groups(first, last)};
  return summed_.lines;
}

std::uint64_t RecencyStack::sum_of_groups(std::uint64_t first, std::uint64_t last) const {
  // Stretches without a wrap of the ring, so that the compiler adds several at a time.
  const auto add = [](const std::vector<std::uint64_t>& ring, std::uint64_t from, std::uint64_t to) {
    std::uint64_t sum = 0;
    while (from < to) {
      const std::uint64_t begin = from & (ring.size() - 1), count = std::min(to - from, ring.size() - begin);
      const std::uint64_t* values = ring.data() + begin;
      for (std::uint64_t i = 0; i < count; ++i) sum += values[i];
      from += count;
    }
    return sum;
  };
  const std::uint64_t first_block = (first + block_groups - 1) >> block_shift, last_block = last >> block_shift;
  if (first_block >= last_block) return add(live_, first, last);
  return add(live_, first, first_block << block_shift) + add(blocks_, first_block, last_block) +
         add(live_, last_block << block_shift, last);
}

namespace {

// What the present group adds to the distance of a piece: its lines but those that count already, being younger than the piece.
std::uint64_t added_lines(const StackPiece& piece, std::span<const StackPiece> pieces, std::uint64_t group_lines) {
  if (pieces.size() > pieces_told_apart || group_lines == 0) return group_lines;
  for (const auto& other : pieces)
    if (other.present && other.group > piece.group) group_lines -= other.lines.size();
  return group_lines;
}

}  // namespace

// Sets at random: of the lines the share that the chance leaves.
RecencyStack::Fate RecencyStack::fate_by_chance(const StackPiece& piece, const Level& level, std::span<const StackPiece> pieces,
                                                std::uint64_t group_lines) const {
  const Cursor &near = cursors_[level.near], &far = cursors_[level.far];
  const std::uint64_t size = piece.lines.size();
  if (piece.group < far.group) return {false, size};
  if (piece.group > near.group) return {true, size};
  const double middle = static_cast<double>(size) / 2;
  const double distance = static_cast<double>(far.newer - lines_of_groups(far.group + 1, piece.group + 1)) +
                          static_cast<double>(live(piece.group)) * std::max(0.0, 1.0 - (piece.start + piece.step * middle)) +
                          static_cast<double>(added_lines(piece, pieces, group_lines)) * (piece.now + piece.pace * middle);
  const double at = (distance - static_cast<double>(near.capacity)) / static_cast<double>(far.capacity - near.capacity) *
                    static_cast<double>(chance_steps);
  if (at <= 0) return {true, size};
  if (at >= static_cast<double>(chance_steps)) return {false, size};
  ++decided_by_place_;
  const auto step = static_cast<std::size_t>(at);
  const double chance = level.chance[step] + (level.chance[step + 1] - level.chance[step]) * (at - static_cast<double>(step));
  const auto held = static_cast<std::uint64_t>(chance * stretch + 0.5);
  const std::uint64_t place = place_in_stretch(piece.lines.first);
  const std::uint64_t run = std::min((place < held ? held : stretch) - place, stretch - piece.lines.first.value() % stretch);
  return {place < held, std::min(run, size)};
}

// Whether a level holds the first lines of the piece, and how many lines share that fate.
RecencyStack::Fate RecencyStack::fate(const StackPiece& piece, const Level& level, std::span<const StackPiece> pieces,
                                      std::uint64_t group_lines) const {
  if (random_) {
    const RandomVictims::Fate fate = random_->fate(piece.lines, since(piece.group));
    return {fate.held, fate.lines};
  }
  if (level.near != level.far) return fate_by_chance(piece, level, pieces, group_lines);
  const Cursor& cursor = cursors_[level.far];
  const std::uint64_t all = piece.lines.size();
  if (piece.group < cursor.group) return {false, all};
  const std::uint64_t own = live(piece.group);
  std::uint64_t newer = cursor.newer;  // lines in groups after the walked one
  if (newer + (piece.group == cursor.group ? own : 0) + group_lines <= cursor.capacity) return {true, all};
  for (std::uint64_t group = cursor.group + 1; group <= piece.group; ++group) {
    newer -= live(group);
    if (newer + (group == piece.group ? own : 0) + group_lines <= cursor.capacity) return {true, all};
  }
  if (newer > cursor.capacity) return {false, all};
  // distance(y) = newer groups + the rest of its own group + what the present group has touched that is not counted there
  const std::uint64_t added = added_lines(piece, pieces, group_lines);
  const auto size = static_cast<double>(all);
  const auto distance = [&](double line) {
    return static_cast<double>(newer) + static_cast<double>(own) * std::max(0.0, 1.0 - (piece.start + piece.step * line)) +
           static_cast<double>(added) * (piece.now + piece.pace * line);
  };
  const double first = distance(0), last = distance(size), capacity = static_cast<double>(cursor.capacity);
  const double slack = 1e-3 * capacity;  // rounding of the fractions
  if (first <= capacity + slack && last <= capacity + slack) return {true, all};
  if (first >= capacity && last >= capacity) return {false, all};
  const auto cut = static_cast<std::uint64_t>(size * (capacity - first) / (last - first) + 0.5);
  if (cut == 0) return {first > last, all};
  return {first < last, std::min(cut, all)};
}

void RecencyStack::classify(std::vector<StackPiece>& pieces, std::uint64_t group_lines) const {
  const auto levels = static_cast<unsigned>(bounds_->levels.size());
  summed_ = {};
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (!pieces[i].present) continue;
    pieces[i].level = 0;
    while (pieces[i].level < levels) {
      const Fate fate = this->fate(pieces[i], bounds_->levels[pieces[i].level], pieces, group_lines);
      if (fate.lines < pieces[i].lines.size()) {
        // The rest is a piece of its own right behind this one, looked at anew.
        StackPiece rest = pieces[i];
        const auto skipped = static_cast<float>(fate.lines);
        rest.start += rest.step * skipped;
        rest.now += rest.pace * skipped;
        rest.lines.first += fate.lines;
        pieces[i].lines.last = rest.lines.first;
        pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(i) + 1, rest);
      }
      if (fate.held) break;
      ++pieces[i].level;
    }
  }
}

std::uint64_t RecencyStack::oldest_group() const {
  if (!random_) return cursors_.back().group;
  return oldest_ == no_segment ? current_ : segments_[oldest_].group;
}

void RecencyStack::begin_group() {
  if (current_ + 1 + block_groups - oldest_group() >= live_.size()) make_room_for_group();
  ++current_;
  live(current_) = 0;
  if (random_) clocks_[current_ & (clocks_.size() - 1)] = random_->now();
}

// The ring is full: groups without lines lose their numbers, unless a cursor stands there; if few have none, the ring grows.
void RecencyStack::make_room_for_group() {
  std::vector<std::size_t> order(cursors_.size());  // cursors by age
  for (std::size_t c = 0; c < order.size(); ++c) order[c] = c;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return cursors_[a].group < cursors_[b].group; });
  std::vector<std::uint64_t> counts(1, 0);
  std::vector<RandomVictims::Clock> clocks(random_ ? 1 : 0, RandomVictims::Clock{});
  std::vector<std::uint64_t> moved(cursors_.size(), 0);
  std::uint64_t previous = ~std::uint64_t{0};  // the old number of the last group that got a new one
  const auto renumber = [&](std::uint64_t group) {
    if (group == previous) return;
    previous = group;
    counts.push_back(live(group));
    if (random_) clocks.push_back(since(group));
  };
  auto cursor = order.begin();
  const auto place_cursors = [&](std::uint64_t up_to) {
    for (; cursor != order.end() && cursors_[*cursor].group <= up_to; ++cursor) {
      renumber(cursors_[*cursor].group);
      moved[*cursor] = counts.size() - 1;
    }
  };
  for (SegmentIndex s = oldest_; s != no_segment; s = segments_[s].newer) {
    LineSegment& segment = segments_[s];
    if (segment.group != previous) {
      place_cursors(segment.group);
      renumber(segment.group);
    }
    segment.group = counts.size() - 1;
  }
  place_cursors(~std::uint64_t{0});
  std::size_t size = initial_groups;
  while (size < 4 * counts.size()) size *= 2;
  live_.assign(size, 0);
  std::copy(counts.begin(), counts.end(), live_.begin());
  blocks_.assign(size / block_groups, 0);
  for (std::size_t group = 0; group < counts.size(); ++group) blocks_[group >> block_shift] += counts[group];
  for (std::size_t c = 0; c < cursors_.size(); ++c) cursors_[c].group = moved[c];
  if (random_) {
    clocks.resize(size);
    clocks_ = std::move(clocks);
  }
  current_ = counts.size() - 1;
}

void RecencyStack::forget(std::uint64_t group, std::uint64_t lines) {
  live(group) -= lines;
  blocks_[(group >> block_shift) & (blocks_.size() - 1)] -= lines;
  lines_ -= lines;
  for (auto& cursor : cursors_)
    if (group > cursor.group) cursor.newer -= lines;
}

void RecencyStack::unlink(SegmentIndex index) {
  const LineSegment& segment = segments_[index];
  if (random_) std::replace(unthinned_.begin(), unthinned_.end(), index, segment.newer);
  (segment.newer != no_segment ? segments_[segment.newer].older : newest_) = segment.older;
  (segment.older != no_segment ? segments_[segment.older].newer : oldest_) = segment.newer;
}

void RecencyStack::enter(SegmentIndex index, LineRange touched) {
  LineSegment& segment = segments_[index];
  segment.step = 1.0F / static_cast<float>(touched.size());
  segment.start = segment.step * static_cast<float>(segment.first - touched.first);
  segment.group = current_;
  segment.newer = no_segment;
  segment.older = newest_;
  (newest_ != no_segment ? segments_[newest_].newer : oldest_) = index;
  newest_ = index;
  const std::uint64_t size = segment.size();
  live(current_) += size;
  blocks_[(current_ >> block_shift) & (blocks_.size() - 1)] += size;
  lines_ += size;
  for (auto& cursor : cursors_) cursor.newer += size;
  if (!random_) return;
  random_->filled({segment.first, segment.last});
  std::replace(unthinned_.begin(), unthinned_.end(), no_segment, index);
}

void RecencyStack::touch(LineRange range, bool writes, std::uint16_t writer, bool absent) {
  if (absent) {
    const SegmentIndex index = segments_.insert(range);
    segments_[index].dirty = writes;
    segments_[index].writer = writer;
    enter(index, range);
    return;
  }
  SegmentIndex s = segments_.first_in(range.first, range.last);
  if (s != no_segment && segments_[s].first == range.first && segments_[s].last == range.last) {
    leave(s);
    enter(s, range);
    if (writes) {
      segments_[s].dirty = true;
      segments_[s].writer = writer;
    }
    return;
  }
  runs_.clear();
  const auto add = [&](LineNumber first, LineNumber last, bool dirty, std::uint16_t by) {
    if (first == last) return;
    if (!runs_.empty() && runs_.back().dirty == dirty && (!dirty || runs_.back().writer == by))
      runs_.back().lines.last = last;
    else
      runs_.push_back({{first, last}, dirty, by});
  };
  LineNumber at = range.first;
  for (SegmentIndex next; s != no_segment; s = next) {
    next = segments_.next_in(s, range.last);
    const LineRange lines = intersection(s, range);
    const bool dirty = segments_[s].dirty;
    const std::uint16_t by = segments_[s].writer;
    add(at, lines.first, writes, writer);
    add(lines.first, lines.last, dirty || writes, writes ? writer : by);
    at = lines.last;
    remove_part(s, lines);
  }
  add(at, range.last, writes, writer);
  for (const auto& run : runs_) {
    const SegmentIndex index = segments_.insert(run.lines);
    segments_[index].dirty = run.dirty;
    segments_[index].writer = run.writer;
    enter(index, range);
  }
}

void RecencyStack::end_group() {
  if (random_) return random_->settle();
  for (auto& cursor : cursors_)
    while (cursor.newer > cursor.capacity) cursor.newer -= live(++cursor.group);
}

bool RecencyStack::any_dirty(LineRange range) const {
  for (SegmentIndex s = segments_.first_in(range.first, range.last); s != no_segment; s = segments_.next_in(s, range.last))
    if (segments_[s].dirty) return true;
  return false;
}

SegmentIndex RecencyStack::split(SegmentIndex left, LineNumber at) {
  const LineSegment whole = segments_[left];
  segments_.trim(left, whole.first, at);
  const SegmentIndex right = segments_.insert({at, whole.last});
  LineSegment& segment = segments_[right];
  segment.group = whole.group;
  segment.step = whole.step;
  segment.start = whole.start + whole.step * static_cast<float>(at - whole.first);
  segment.dirty = whole.dirty;
  segment.writer = whole.writer;
  segment.older = left;
  segment.newer = whole.newer;
  segments_[left].newer = right;
  (whole.newer != no_segment ? segments_[whole.newer].older : newest_) = right;
  return right;
}

SegmentIndex RecencyStack::isolate(SegmentIndex index, LineRange part) {
  if (segments_[index].first < part.first) index = split(index, part.first);
  if (part.last < segments_[index].last) split(index, part.last);
  return index;
}

void RecencyStack::remove_part(SegmentIndex index, LineRange part) {
  const LineSegment& segment = segments_[index];
  if (segment.first == part.first && segment.last == part.last) {
    leave(index);
    segments_.erase(index);
    return;
  }
  if (random_) random_->left(part, since(segment.group));
  forget(segment.group, part.size());
  if (segment.first == part.first) {
    segments_.trim(index, part.last, segment.last);
  } else if (segment.last == part.last) {
    segments_.trim(index, segment.first, part.first);
  } else {
    split(index, part.last);
    segments_.trim(index, segments_[index].first, part.first);
  }
}

}  // namespace homenode
