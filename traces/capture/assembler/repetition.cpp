// The same iteration again and again.
#include <algorithm>
#include <cstring>

#include "traces/capture/assembler/state.hpp"

extern "C" {
#include "traces/capture/runtime/stream.h"
}

namespace homenode {

// A loop whose iterations do the same a constant distance further sends the same bytes for each of them, as bases are sent as
// differences. Such iterations are recognised by their bytes, without folding them.
void Assembler::next_item(std::int64_t iteration) {
  Rank& rank = ranks_[rank_];
  Phase& phase = phases_[rank.phase];
  const bool simple = rank.only_runs && rank.in_item && phase.kind == RegionKind::loop;
  const bool is_next = iteration == rank.iteration + 1;
  if (simple) {
    // Before the opcode and its number, whose length is that of a varint.
    std::size_t tail = 2;
    for (std::uint64_t rest = static_cast<std::uint64_t>(iteration) >> 7; rest != 0; rest >>= 7) ++tail;
    const auto bytes = in_.since(rank.begin);
    if (bytes.size() > tail && bytes.size() <= (64u << 10)) {
      template_.assign(bytes.begin(), bytes.end() - static_cast<std::ptrdiff_t>(tail));
    } else {
      template_.clear();
    }
  }
  const std::uint64_t accesses = rank.accesses;
  close_item(rank);
  if (simple && !template_.empty() && is_next) {
    Share& share = phase.by_rank[rank.share];
    const std::int64_t room = repeatable(share.folder);
    std::int64_t repeated = 0;
    const std::uint64_t generation_step = template_.size() + 12;
    while (repeated < room) {
      const auto bytes = in_.ahead(generation_step);
      if (bytes.size() < template_.size() + 2 || std::memcmp(bytes.data(), template_.data(), template_.size()) != 0 ||
          bytes[template_.size()] != HN_ITEM) {
        break;
      }
      std::size_t at = template_.size() + 1;
      std::uint64_t number = 0;
      for (unsigned shift = 0; at < bytes.size() && shift < 64; shift += 7) {
        number |= static_cast<std::uint64_t>(bytes[at] & 127) << shift;
        if (bytes[at++] < 128) break;
      }
      if (bytes[at - 1] >= 128 || number != static_cast<std::uint64_t>(iteration) + 1) break;
      in_.skip(at);
      ++iteration;
      ++repeated;
    }
    if (repeated > 0) {
      share.folder.repeat(repeated);
      const std::uint64_t more = static_cast<std::uint64_t>(repeated) * accesses;
      share.accesses += more;
      result_.accesses += more;
      for (const std::uint32_t id : pcs_of_item_) {
        Pc& pc = pcs_[id];
        if (pc.at_item == pc.previous) continue;
        const std::uint64_t step = pc.previous - pc.at_item;
        pc.previous += step * static_cast<std::uint64_t>(repeated);
        pc.at_item = pc.previous;  // a site that made several runs moves once
      }
    }
  }
  if (phase.kind == RegionKind::loop && !phase.by_rank.empty() && !is_next) {
    // A marked loop's iterations come in any order; those of a share are neighbours.
    const auto before = phase.by_rank.find(rank.share);
    if (before != phase.by_rank.end()) {
      before->second.folder.finish(intern(phase), keep(phase, before->second));
      rank.share = static_cast<std::uint32_t>(ranks_.size() + phase.by_rank.size());
    }
  }
  for (const std::uint32_t id : pcs_of_item_) pcs_[id].at_item = pcs_[id].previous;
  pcs_of_item_.clear();
  rank.iteration = iteration;
  rank.in_item = true;
  rank.only_runs = true;
  rank.begin = in_.bookmark();
}

// How many more iterations may repeat the last one: none unless the shift of each run is the distance that the bytes
// of an iteration move its site by; and only while all stays within its objects.
std::int64_t Assembler::repeatable(const BlockFolder& folder) const {
  if (!folder.is_steady()) return 0;
  const Item& item = folder.open_item();
  if (!item.pattern.streams.empty() || !item.pattern.heap_events.empty() || !item.pattern.sync_events.empty()) return 0;
  std::int64_t room = INT64_MAX;
  for (const AccessRun& run : item.pattern.runs) {
    const auto pc = std::find_if(pcs_of_item_.begin(), pcs_of_item_.end(), [&](std::uint32_t id) { return pcs_[id].site == run.site; });
    const std::int64_t shift = folder.shifts()[run.slot];
    // Sites of one place in the source may be several sites of the stream; all of them must move alike.
    if (pc == pcs_of_item_.end()) return 0;
    for (const std::uint32_t id : pcs_of_item_) {
      if (pcs_[id].site == run.site && static_cast<std::int64_t>(pcs_[id].previous - pcs_[id].at_item) != shift) return 0;
    }
    std::int64_t low = item.positions[run.slot].offset + run.offset, high = low + run.width;
    for (unsigned d = 0; d < run.dimensions; ++d) {
      const std::int64_t reach = (static_cast<std::int64_t>(run.dimension[d].count) - 1) * run.dimension[d].stride;
      (reach < 0 ? low : high) += reach;
    }
    const std::int64_t done = folder.last() - folder.first() - 1;
    const auto bytes = static_cast<std::int64_t>(objects_.objects[item.positions[run.slot].object.index()].bytes);
    if (shift > 0) room = std::min(room, (bytes - high) / shift - done);
    if (shift < 0) room = std::min(room, low / -shift - done);
  }
  return std::max<std::int64_t>(room, 0);
}

}  // namespace homenode
