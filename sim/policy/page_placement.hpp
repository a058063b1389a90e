// Page -> home node. A placement is asked in batches: once for the pages that one slice of work faults in, in address order.
// Lifecycle: run_on and prepare once, then fault (and observe, wake for those that watch pages) in simulated-time order.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/base/addresses.hpp"
#include "sim/hardware/memory_model.hpp"
#include "sim/machine/machine.hpp"
#include "sim/machine/system.hpp"

namespace homenode {

struct AccessSummary;  // bytes by thread and page from a pilot run (access_summary.hpp); two-pass policies only

// Pages [first, last) of an object, counted from its first one, that `thread` touches before the program runs;
// none(): all threads, in turn.
struct TouchedPages {
  ObjectId object;
  std::uint64_t first = 0, last = 0;
  ThreadId thread;
};

struct PageFault {
  PageNumber page;
  ObjectId object;
  Place place;  // who touched it, where, when
  bool write = false;
  std::int64_t offset = 0;     // of the page's first byte from byte 0 of the object; negative where the object begins inside the page
  std::uint64_t bytes = 4096;  // of the page, or of the huge page
  std::uint64_t pages = 1;     // that it maps, from `page` on: a transparent huge page is many
  std::uint64_t number_of_its_size() const { return page.value() / pages; }
};

// What a placement is told about mapped pages.
enum class Watch : std::uint8_t {
  nothing,
  hinting_faults,  // the first touch of each page that it unmapped, or whose accessed bit it cleared
  touches,         // the same, and it costs nothing: what an observer sees
  traffic          // the bytes that each slice exchanges with memory, by page
};

struct PageUse {
  PageNumber page;
  NodeId home;
  std::uint64_t read_bytes = 0, written_bytes = 0;  // exchanged with memory; none for a hinting fault
};

class PageActions {  // what a placement can ask about mapped pages, and do to them
public:
  virtual ~PageActions() = default;
  virtual std::uint64_t pages() const = 0;  // their numbers are less than this
  virtual std::uint64_t page_bytes() const = 0;
  virtual NodeId home(PageNumber) const = 0;  // none(): nobody wrote the page yet, or it was given back
  // Takes effect before the next access. The thread for which the placement is called waits for the copy, whose bytes are traffic.
  virtual void migrate(PageNumber, NodeId to) = 0;
  // The next touch is a hinting fault, which maps the page again. False if there is no such page, or it is unmapped already.
  virtual bool unmap(PageNumber) = 0;
  // Clears the accessed bit: `observe` is told of the next touch, which costs nothing, as of a hinting fault. False where `unmap` is.
  virtual bool clear_accessed(PageNumber) { return false; }
  // Copies the page to every node with cores; the thread for which the placement is called waits for the copies, whose bytes are traffic.
  // Reads then go to the reader's own node. The first write collapses it: the writer's copy is left, the writer pays for a page fault and
  // a TLB shootdown. False, and nothing happens, if a node has no room (which is counted), the page has no home, has copies already, or is
  // part of a huge page. For placements that say so (`replicates`).
  virtual bool replicate(PageNumber) { return false; }
  virtual bool replicated(PageNumber) const { return false; }
  // Writes that collapsed it since it was placed.
  virtual std::uint64_t collapses(PageNumber) const { return 0; }
  // Clears the dirty bit, at no cost: whether a thread wrote the page since. For placements that replicate.
  virtual bool clear_dirty(PageNumber) { return false; }
  // That the node has room for; without a machine as many as can be counted.
  virtual std::uint64_t free_pages(NodeId) const { return UINT64_MAX; }
  // Migrates a thread, from its next slice on, to an idle core of the node; false if its mapping allows none.
  virtual bool move_thread(ThreadId, NodeId to) = 0;
  // Exchanges the cores of two threads, from their next slices on; false if their mapping does not allow it.
  virtual bool exchange_threads(ThreadId, ThreadId) { return false; }
  virtual std::vector<ThreadId> threads_on(NodeId) const { return {}; }
};

class PagePlacement {
public:
  virtual ~PagePlacement() = default;
  // Before prepare: the system of the run. Throws UsageError where the placement does not exist.
  virtual void run_on(const OperatingSystem&) {}
  virtual bool wants_summary() const { return false; }
  // After prepare: pages that a parallel pass in front of the program touches, to place them. The run pays for the pass.
  virtual std::vector<TouchedPages> touched_first() const { return {}; }
  virtual void prepare(const AccessSummary* /*null for online policies*/, const Machine&) {}
  // For placements that need no look at each fault. Writes the homes of pages 0, 1, ... of a size until they repeat: a fault that `place`
  // takes on page n of its size goes to homes[n % homes.size()], whatever `fault` was asked before. None, which is always right: `fault`
  // is asked. A placement that writes some has to for every place.
  virtual void repeating_homes(const Place& /*place*/, std::vector<NodeId>& /*homes*/) const {}
  // Writes one home for each fault. The caller throws PolicyError for a home that is not a node with memory.
  virtual void fault(std::span<const PageFault>, std::span<NodeId> home) = 0;
  virtual Watch watches() const { return Watch::nothing; }
  // Uses of pages by one slice, each page at most once, in address order. Hinting faults are told before the access that caused them,
  // traffic after the accesses of the slice.
  virtual void observe(const Place&, std::span<const PageUse>, PageActions&) {}
  // `wake` is called at the start of the first slice that starts at `wakeup` or later; its thread pays for what is done. A slice is at
  // most a quantum long, so the call is at most a quantum late.
  virtual std::optional<Time> wakeup() const { return std::nullopt; }
  virtual void wake(const Place&, PageActions&) {}
  // Whether it may replicate pages: then writes are seen, and the report says what became of the copies.
  virtual bool replicates() const { return false; }
};

}  // namespace homenode
