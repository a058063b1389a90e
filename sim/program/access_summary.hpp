// Which thread uses which pages of which object, and how much: input of placements that know the program beforehand.
//
// Use is counted in bytes of the program's accesses, before any cache: those of the runs that lie on the page. A run that touches
// every page of its range counts evenly over the range (rows with gaps of less than a page are one range). So does a run of more
// than `most_pieces` separate pieces. Stacks and other thread-private objects are left out: each has one user.
// Pages are those of the object: page 0 holds its byte 0. So a summary holds wherever the object lies, also when it comes anew.
// It grows with the number of distinct ranges of more than one page, and with the number of pages in which threads use shorter ranges.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/program/workload.hpp"

namespace homenode {

struct PageUser {
  ThreadId thread;
  double read = 0, written = 0;  // bytes on one page
};

// Neighbouring pages that the same threads use to the same extent.
struct UsedPages {
  std::uint64_t first = 0, last = 0;  // [first, last)
  std::vector<PageUser> users;        // by thread
};

struct ObjectUse {
  std::uint64_t phase = 0;       // where byte 0 lies in its page
  bool at_start = false;         // it exists when the first team starts: no later code allocates it
  std::vector<UsedPages> pages;  // by first, without overlaps
};

struct AccessSummary {
  std::uint64_t page_bytes = 4096;
  std::vector<NodeId> node;  // by thread
  std::map<ObjectId, ObjectUse> objects;

  // The number of the object's page whose first byte lies `offset` bytes behind byte 0 of the object (before it: negative).
  // An object that lies otherwise in its page than in the pilot run: the page that overlaps most.
  static std::uint64_t page_number(std::int64_t offset, std::uint64_t phase, std::uint64_t page_bytes);
};

// Collects what threads do and sums it up.
class AccessRecorder {
public:
  static constexpr std::uint64_t most_pieces = 1 << 16;

  AccessRecorder(const Workload&, std::uint64_t page_bytes);
  AccessRecorder(const AccessRecorder&) = delete;
  AccessRecorder& operator=(const AccessRecorder&) = delete;

  bool known(ObjectId object) const { return found_[object.index()].known; }
  // `phase`: where byte 0 of the object lies in its page; before the first use of the object.
  void introduce(ObjectId, std::uint64_t phase);
  // All that iterations [first, last) of the block do, for thread `thread`. Objects must have been introduced.
  void add(const ItemBlock&, std::int64_t first, std::int64_t last, ThreadId thread);
  void mark_at_start(ObjectId object) { found_[object.index()].at_start = true; }

  AccessSummary summary(std::vector<NodeId> node_of_thread) const;

private:
  struct Piece {
    std::uint32_t thread = 0;
    std::uint64_t first = 0, last = 0;  // bytes, from the begin of page 0
    bool operator==(const Piece&) const = default;
  };
  struct PieceHash {
    std::size_t operator()(const Piece&) const noexcept;
  };
  struct Used {
    std::uint64_t read = 0, written = 0;
  };
  struct Found {
    std::unordered_map<Piece, Used, PieceHash> pieces;
    std::pair<const Piece, Used>* last = nullptr;  // of them, that was used last
    std::uint64_t phase = 0;
    bool known = false, at_start = false;
  };
  void add_run(const AccessRun&, const SlotBinding&, std::int64_t start, std::uint64_t iterations, ThreadId);
  void add_stream(const IrregularStream&, const ItemBlock&, std::int64_t first, std::int64_t last, ThreadId);
  void use(Found&, Piece, AccessKind, std::uint64_t bytes);
  std::vector<UsedPages> pages_of(const Found&) const;

  const Workload& workload_;
  std::uint64_t page_bytes_;
  std::vector<Found> found_;  // by object
};

}  // namespace homenode
