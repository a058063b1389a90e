// An exact cache hierarchy, word by word, to hold the fast model against. It shares no header with the model, on purpose.
// Set-associative with true LRU in each set; physical frames drawn at random by a seed; hashed slices; private and shared
// levels; lines filled on the way in (inclusive or not) or by evictions of the inner level (exclusive, or kept when others
// hold the line too); MESI with eager invalidation, or MOESI where the outermost level is filled by evictions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace exact {

enum class Filling {
  inclusive,           // on the way in; what it evicts leaves the inner levels
  on_the_way,          // on the way in; nothing more
  by_evictions,        // by what the inner level evicts; a hit moves the line inwards
  by_evictions_shared  // likewise, but a hit leaves the line when other cores of the group hold it
};

struct Level {
  std::uint64_t bytes = 0;
  unsigned ways = 8, cores_per_cache = 1, slices = 1;
  Filling filling = Filling::inclusive;
};

struct Counts {
  std::uint64_t memory_reads = 0, writebacks = 0, streamed = 0, transfers = 0, upgrades = 0, accesses = 0;
  std::vector<std::uint64_t> hits;  // words, by level
  std::uint64_t memory() const { return memory_reads + writebacks + streamed; }
};

class Hierarchy {
public:
  // Addresses lie in [base, base + bytes); both multiples of 4096.
  Hierarchy(std::vector<Level> levels, unsigned cores, std::uint64_t base, std::uint64_t bytes, std::uint64_t seed)
      : levels_(std::move(levels)), cores_(cores), base_(base), holders_(bytes / 64, 0), frames_(bytes / 4096), stream_(cores, none) {
    std::uint64_t state = seed;
    for (auto& frame : frames_) frame = next(state) & ((std::uint64_t{1} << 36) - 1);
    counts.hits.assign(levels_.size(), 0);
    for (unsigned l = 0; l < levels_.size(); ++l) {
      first_cache_.push_back(caches_.size());
      for (unsigned c = 0; c * levels_[l].cores_per_cache < cores; ++c) caches_.emplace_back(levels_[l], l, c);
    }
    for (unsigned core = 0; core < cores; ++core) {
      std::uint64_t mask = 0;
      for (unsigned l = 0; l < levels_.size(); ++l) mask |= std::uint64_t{1} << cache_of(core, l);
      path_.push_back(mask);
    }
  }

  Counts counts;

  void read(unsigned core, std::uint64_t address) { access(core, (address - base_) / 64, false); }
  void write(unsigned core, std::uint64_t address) { access(core, (address - base_) / 64, true); }
  // Non-temporal store: the core's words are combined to lines.
  void stream(unsigned core, std::uint64_t address) {
    ++counts.accesses;
    const std::uint64_t line = (address - base_) / 64;
    if (stream_[core] == line) return;
    stream_[core] = line;
    ++counts.streamed;
    for (std::size_t cache = 0; cache < caches_.size(); ++cache)
      if (holders_[line] >> cache & 1) remove(cache, line);
  }
  void flush() {
    for (std::uint64_t line = 0; line < holders_.size(); ++line) {
      bool dirty = false;
      for (std::size_t cache = 0; cache < caches_.size(); ++cache)
        if (holders_[line] >> cache & 1) {
          Way& way = *find(cache, line);
          dirty |= way.dirty;
          way.dirty = false;
        }
      counts.writebacks += dirty;
    }
  }

private:
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  struct Way {
    std::uint64_t line = none, stamp = 0;
    bool dirty = false;
  };
  struct Cache {
    Cache(const Level& description, unsigned of_level, unsigned of_group)
        : level(of_level),
          group(of_group),
          ways(description.ways),
          slices(description.slices),
          sets(description.bytes / 64 / description.ways / description.slices),
          way(sets * slices * ways) {}
    unsigned level, group, ways, slices;
    std::uint64_t sets;
    std::vector<Way> way;
  };

  static std::uint64_t mix(std::uint64_t x) {
    x ^= x >> 30, x *= 0xbf58476d1ce4e5b9ULL, x ^= x >> 27, x *= 0x94d049bb133111ebULL;
    return x ^ x >> 31;
  }
  static std::uint64_t next(std::uint64_t& state) { return mix(state += 0x9e3779b97f4a7c15ULL); }

  std::size_t cache_of(unsigned core, unsigned level) const { return first_cache_[level] + core / levels_[level].cores_per_cache; }

  bool same_domain(unsigned core, std::size_t cache) const {
    const unsigned width = levels_.back().cores_per_cache;
    return caches_[cache].group * levels_[caches_[cache].level].cores_per_cache / width == core / width;
  }

  Way* set_of(std::size_t cache, std::uint64_t line) {
    Cache& c = caches_[cache];
    const std::uint64_t physical = frames_[line / 64] * 64 + line % 64;
    const std::uint64_t slice = c.slices > 1 ? mix(physical) % c.slices : 0;
    return &c.way[(slice * c.sets + physical % c.sets) * c.ways];
  }
  Way* find(std::size_t cache, std::uint64_t line) {
    Way* set = set_of(cache, line);
    for (unsigned w = 0; w < caches_[cache].ways; ++w)
      if (set[w].line == line) return set + w;
    return nullptr;
  }
  bool remove(std::size_t cache, std::uint64_t line) {  // was it dirty?
    Way* way = find(cache, line);
    if (!way) return false;
    const bool dirty = way->dirty;
    *way = Way{};
    holders_[line] &= ~(std::uint64_t{1} << cache);
    return dirty;
  }
  bool by_evictions(unsigned level) const {
    return levels_[level].filling == Filling::by_evictions || levels_[level].filling == Filling::by_evictions_shared;
  }

  // Puts a line (dirty or not) where an evicted or transferred one belongs: into `level` of the core's path or beyond.
  void put_dirty(unsigned core, unsigned level, std::uint64_t line) {
    for (; level < levels_.size(); ++level) {
      if (Way* way = find(cache_of(core, level), line)) {
        way->dirty = true;
        return;
      }
      if (by_evictions(level)) return insert(core, level, line, true);
    }
    ++counts.writebacks;
  }

  void insert(unsigned core, unsigned level, std::uint64_t line, bool dirty) {
    const std::size_t cache = cache_of(core, level);
    if (Way* way = find(cache, line)) {
      way->dirty |= dirty;
      way->stamp = ++clock_;
      return;
    }
    Way* set = set_of(cache, line);
    Way* victim = std::min_element(set, set + caches_[cache].ways, [](const Way& a, const Way& b) { return a.stamp < b.stamp; });
    const Way old = *victim;
    *victim = {line, ++clock_, dirty};
    holders_[line] |= std::uint64_t{1} << cache;
    if (old.line == none) return;
    holders_[old.line] &= ~(std::uint64_t{1} << cache);
    bool old_dirty = old.dirty;
    if (level > 0 && levels_[level].filling == Filling::inclusive) {
      const unsigned width = levels_[level].cores_per_cache, group = caches_[cache].group;
      for (std::size_t inner = 0; inner < first_cache_[level]; ++inner)
        if (holders_[old.line] >> inner & 1)
          if (caches_[inner].group * levels_[caches_[inner].level].cores_per_cache / width == group) old_dirty |= remove(inner, old.line);
    }
    if (level + 1 < levels_.size() && by_evictions(level + 1))
      insert(core, level + 1, old.line, old_dirty);
    else if (old_dirty)
      put_dirty(core, level + 1, old.line);
  }

  void access(unsigned core, std::uint64_t line, bool writes) {
    ++counts.accesses;
    unsigned level = 0;
    Way* way = nullptr;
    for (; level < levels_.size(); ++level)
      if ((way = find(cache_of(core, level), line))) break;
    if (level == 0 && (!writes || way->dirty)) {
      ++counts.hits[0];
      way->stamp = ++clock_;
      return;
    }
    const std::uint64_t foreign = holders_[line] & ~path_[core];
    bool transferred = false;
    const bool private_hit = level < levels_.size() && levels_[level].cores_per_cache == 1;
    if (foreign != 0) {
      bool dirty = false;
      std::size_t dirty_cache = 0;
      for (std::size_t cache = 0; cache < caches_.size(); ++cache) {
        if (!(foreign >> cache & 1)) continue;
        // A copy in the own domain is good even while another domain owns the line.
        if (!writes && level < levels_.size() && !same_domain(core, cache)) continue;
        if (writes) {
          dirty |= remove(cache, line);
        } else if (Way* other = find(cache, line); other->dirty) {
          other->dirty = false;
          if (!dirty) dirty_cache = cache;
          dirty = true;
        }
      }
      if (writes && private_hit) ++counts.upgrades;
      if (dirty && !private_hit) {
        transferred = true;
        ++counts.transfers;
      }
      if (dirty && !writes) {
        const unsigned owner = caches_[dirty_cache].group * levels_[caches_[dirty_cache].level].cores_per_cache;
        const unsigned last = static_cast<unsigned>(levels_.size()) - 1;
        unsigned common = 0;
        while (common <= last && cache_of(core, common) != cache_of(owner, common)) ++common;
        if (common <= last)
          put_dirty(owner, common, line);
        else if (by_evictions(last))
          put_dirty(owner, last, line);
        else
          ++counts.writebacks;
      }
    }
    if (writes && private_hit)
      for (unsigned outer = 1; outer < levels_.size(); ++outer)
        if (levels_[outer].cores_per_cache > 1 && by_evictions(outer)) remove(cache_of(core, outer), line);  // old from now on
    if (!transferred) {
      if (level < levels_.size())
        ++counts.hits[level];
      else
        ++counts.memory_reads;
    }
    // Fill: every level on the way in from where the line was.
    bool dirty = writes;
    if (level < levels_.size()) {
      way = find(cache_of(core, level), line);
      if (level > 0 && by_evictions(level)) {
        // Newest data move inwards only when nobody else holds them; what was transferred passes by.
        bool stays = !writes && ((way->dirty && foreign != 0) || transferred);
        if (levels_[level].filling == Filling::by_evictions_shared && !writes)
          for (std::size_t cache = 0; cache < caches_.size(); ++cache) stays |= (foreign >> cache & 1) != 0 && same_domain(core, cache);
        if (stays && !transferred)
          way->stamp = ++clock_;
        else if (!stays)
          dirty |= remove(cache_of(core, level), line);
      } else {
        way->stamp = ++clock_;
      }
    }
    for (unsigned l = level; l-- > 0;)
      if (!by_evictions(l)) insert(core, l, line, l == 0 && dirty);
    if (level == 0 && writes) find(cache_of(core, 0), line)->dirty = true;
  }

  std::vector<Level> levels_;
  unsigned cores_;
  std::uint64_t base_;
  std::vector<std::uint64_t> holders_;  // by line: which caches
  std::vector<std::uint64_t> frames_;
  std::vector<std::uint64_t> stream_;  // by core: the line that its non-temporal stores fill
  std::vector<Cache> caches_;
  std::vector<std::size_t> first_cache_;
  std::vector<std::uint64_t> path_;
  std::uint64_t clock_ = 0;
};

}  // namespace exact
