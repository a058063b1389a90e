#include "sim/program/access_summary.hpp"

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace homenode {
namespace {

// Pages [first, last) of which each has the same part of one piece.
struct Part {
  std::uint64_t first = 0, last = 0;
  PageUser user;
};

}  // namespace

std::uint64_t AccessSummary::page_number(std::int64_t offset, std::uint64_t phase, std::uint64_t page_bytes) {
  const std::int64_t from_page_0 = offset + static_cast<std::int64_t>(phase + page_bytes / 2);
  return from_page_0 < 0 ? 0 : static_cast<std::uint64_t>(from_page_0) / page_bytes;
}

std::size_t AccessRecorder::PieceHash::operator()(const Piece& piece) const noexcept {
  constexpr std::uint64_t golden_ratio = 0x9E3779B97F4A7C15;  // Knuth, The Art of Computer Programming 3, section 6.4
  std::uint64_t hash = piece.thread;
  for (const std::uint64_t part : {piece.first, piece.last}) hash = ((hash ^ part) * golden_ratio) ^ (hash >> 29);
  return static_cast<std::size_t>(hash);
}

AccessRecorder::AccessRecorder(const Workload& workload, std::uint64_t page_bytes)
    : workload_{workload}, page_bytes_{page_bytes}, found_(workload.objects.size()) {}

void AccessRecorder::introduce(ObjectId object, std::uint64_t phase) {
  Found& found = found_[object.index()];
  found.known = true;
  found.phase = phase;
}

void AccessRecorder::add(const ItemBlock& block, std::int64_t first, std::int64_t last, ThreadId thread) {
  const ItemPattern& pattern = workload_.patterns[block.pattern.index()];
  for (const AccessRun& run : pattern.runs) {
    const SlotBinding& binding = block.slots[run.slot];
    if (workload_.objects[binding.object.index()].thread_private) continue;
    const std::int64_t start = binding.base + (first - block.first) * binding.shift + run.offset;
    add_run(run, binding, start, static_cast<std::uint64_t>(last - first), thread);
  }
  for (const IrregularStream& stream : pattern.streams) add_stream(stream, block, first, last, thread);
}

void AccessRecorder::add_run(const AccessRun& run, const SlotBinding& binding, std::int64_t start, std::uint64_t iterations,
                             ThreadId thread) {
  struct Loop {
    std::uint64_t count, stride;
  };
  std::vector<Loop> loops;
  std::uint64_t times = 1;  // that the same bytes are used
  const auto loop = [&](std::uint64_t count, std::int64_t stride) {
    if (stride < 0) start += stride * static_cast<std::int64_t>(count - 1);
    if (stride == 0)
      times *= count;
    else if (count > 1)
      loops.push_back({count, static_cast<std::uint64_t>(std::llabs(stride))});
  };
  for (unsigned d = 0; d < run.dimensions; ++d) {
    if (run.dimension[d].count == 0) return;
    loop(run.dimension[d].count, run.dimension[d].stride);
  }
  loop(iterations, binding.shift);
  std::sort(loops.begin(), loops.end(), [](const Loop& a, const Loop& b) { return a.stride < b.stride; });

  // Loops that leave out no page make one range; the others make pieces of it, as long as they are not too many.
  std::uint64_t extent = std::max<std::uint64_t>(run.width, 1), bytes = extent * times;
  std::uint64_t pieces = 1;
  for (const Loop& outer : loops) pieces *= outer.count;
  std::vector<Loop> apart;
  for (const Loop& outer : loops) {
    pieces /= outer.count;
    if (outer.stride <= extent + page_bytes_ || pieces > most_pieces / outer.count) {
      extent += outer.stride * (outer.count - 1);
      bytes *= outer.count;
    } else {
      apart.push_back(outer);
    }
  }
  Found& found = found_[binding.object.index()];
  start += static_cast<std::int64_t>(found.phase);
  std::vector<std::uint64_t> index(apart.size(), 0);
  while (true) {
    std::int64_t first = start;
    for (std::size_t d = 0; d < apart.size(); ++d) first += static_cast<std::int64_t>(index[d] * apart[d].stride);
    if (first >= 0)
      use(found, {thread.value(), static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(first) + extent}, run.kind, bytes);
    std::size_t d = 0;
    for (; d < apart.size() && ++index[d] == apart[d].count; ++d) index[d] = 0;
    if (d == apart.size()) return;
  }
}

void AccessRecorder::add_stream(const IrregularStream& stream, const ItemBlock& block, std::int64_t first, std::int64_t last,
                                ThreadId thread) {
  for (std::size_t i = 0; i < stream.offset.size(); ++i) {
    const SlotBinding& binding = block.slots[stream.slot[i]];
    if (workload_.objects[binding.object.index()].thread_private) continue;
    Found& found = found_[binding.object.index()];
    const std::uint64_t each = binding.shift == 0 ? static_cast<std::uint64_t>(last - first) : 1;
    for (std::int64_t iteration = first; iteration < (binding.shift == 0 ? first + 1 : last); ++iteration) {
      const std::int64_t offset = binding.base + (iteration - block.first) * binding.shift + stream.offset[i];
      const std::int64_t byte = offset + static_cast<std::int64_t>(found.phase);
      if (byte < 0) continue;
      // For the page that it begins in.
      const std::uint64_t begin = static_cast<std::uint64_t>(byte);
      use(found, {thread.value(), begin, begin + 1}, stream.kind, each * stream.width);
    }
  }
}

// What lies in one page counts for the page as a whole: programs that read single lines and short rows have millions of those.
void AccessRecorder::use(Found& found, Piece piece, AccessKind kind, std::uint64_t bytes) {
  const std::uint64_t page = piece.first / page_bytes_;
  if (piece.last <= (page + 1) * page_bytes_) {
    piece.first = page * page_bytes_;
    piece.last = piece.first + page_bytes_;
  }
  if (found.last == nullptr || found.last->first != piece) found.last = &*found.pieces.try_emplace(piece).first;
  Used& used = found.last->second;
  if (kind != AccessKind::write) used.read += bytes;
  if (kind != AccessKind::read) used.written += bytes;
}

std::vector<UsedPages> AccessRecorder::pages_of(const Found& found) const {
  // A piece covers a part of its first page, whole pages, and a part of its last page.
  std::vector<Part> parts;
  std::vector<std::uint64_t> cuts;
  for (const auto& entry : found.pieces) {
    const Piece& piece = entry.first;
    const Used& used = entry.second;
    const double length = static_cast<double>(piece.last - piece.first);
    const auto part = [&](std::uint64_t first, std::uint64_t last, std::uint64_t bytes_of_page) {
      if (first >= last) return;
      const double share = static_cast<double>(bytes_of_page) / length;
      parts.push_back(
          {first, last, {ThreadId{piece.thread}, static_cast<double>(used.read) * share, static_cast<double>(used.written) * share}});
      cuts.push_back(first);
      cuts.push_back(last);
    };
    const std::uint64_t first = piece.first / page_bytes_, last = (piece.last - 1) / page_bytes_;
    if (first == last) {
      part(first, first + 1, piece.last - piece.first);
      continue;
    }
    part(first, first + 1, (first + 1) * page_bytes_ - piece.first);
    part(first + 1, last, page_bytes_);
    part(last, last + 1, piece.last - last * page_bytes_);
  }
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return std::tie(a.first, a.user.thread, a.last, a.user.read, a.user.written) <
           std::tie(b.first, b.user.thread, b.last, b.user.read, b.user.written);
  });
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());

  std::vector<UsedPages> pages;
  std::vector<Part> open;
  std::size_t next = 0;
  for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
    std::erase_if(open, [&](const Part& part) { return part.last <= cuts[c]; });
    for (; next < parts.size() && parts[next].first == cuts[c]; ++next) open.push_back(parts[next]);
    if (open.empty()) continue;
    std::map<ThreadId, PageUser> users;
    for (const Part& part : open) {
      PageUser& user = users[part.user.thread];
      user.thread = part.user.thread;
      user.read += part.user.read;
      user.written += part.user.written;
    }
    UsedPages& range = pages.emplace_back(UsedPages{cuts[c], cuts[c + 1], {}});
    for (const auto& [thread, user] : users) range.users.push_back(user);
  }
  return pages;
}

AccessSummary AccessRecorder::summary(std::vector<NodeId> node_of_thread) const {
  AccessSummary summary;
  summary.page_bytes = page_bytes_;
  summary.node = std::move(node_of_thread);
  for (std::size_t object = 0; object < found_.size(); ++object) {
    const Found& found = found_[object];
    if (!found.pieces.empty()) summary.objects[ObjectId{object}] = {found.phase, found.at_start, pages_of(found)};
  }
  return summary;
}

}  // namespace homenode
