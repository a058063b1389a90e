// Touches of pages -> page faults -> homes. Faults are held and settled as runs: first touch and interleaving are intervals and strides,
// and what happens to one page of a run happens to the next (docs/decisions/0046-faults-as-runs.md).
#include <algorithm>
#include <string>

#include "sim/base/errors.hpp"
#include "sim/machine/machine.hpp"
#include "sim/memory/address_space.hpp"

namespace homenode {

std::uint64_t AddressSpace::touch(AddressRange range, bool write, const Place& place) {
  note_touch(range, write, place);
  return settle();
}

void AddressSpace::note_touch(AddressRange range, bool write, const Place& place) {
  if (range.last <= range.first) return;
  PageNumber page = page_of(range.first);
  const PageNumber last = page_of(range.last - 1), end = last + 1;
  check_page(last);
  watch_.touched(page, last);
  if (write) {
    watch_.stored(page, end);
    if (replicas_.any()) collapse(page, end, place.node);
  }
  for (page = page_table_.first_to_map(page, end, write); page < end; page = page_table_.first_to_map(page, end, write)) {
    const PageNumber end_of_run = page_table_.end_to_map(page, end, write);
    if (write) {
      note_faults(page, end_of_run, range, place);
    } else {
      page_table_.fill(page, end_of_run, PageTable::zero_page);
    }
    page = end_of_run;
  }
}

void AddressSpace::keep_placed(PageNumber page, ObjectId object, ThreadId thread, NodeId home) {
  const Address base = object.is_none() ? Address{} : placement_of(object, thread).base;
  placed_.push_back({object, base == Address{} ? 0 : page - page_of(base), home});
}

void AddressSpace::note_faults(PageNumber first, PageNumber last, AddressRange touched, const Place& place) {
  if (pages_per_huge_ == 0) {
    note_small(first, last, touched, place);
    return;
  }
  for (PageNumber page = first; page < last;) {
    const std::uint64_t block = page.value() / pages_per_huge_;
    const PageNumber end = std::min(last, PageNumber{(block + 1) * pages_per_huge_});
    if (can_be_huge(block)) {
      note_huge(block, page, touched, place);
    } else {
      note_small(page, end, touched, place);
    }
    page = end;
  }
}

AddressSpace::Located AddressSpace::touched_object(PageNumber page, AddressRange touched) const {
  const AddressRange bytes = bytes_of(page);
  return object_in({std::max(bytes.first, touched.first), std::min(bytes.last, touched.last)});
}

void AddressSpace::note_small(PageNumber first, PageNumber last, AddressRange touched, const Place& place) {
  page_table_.fill(first, last, PageTable::pending);
  for (PageNumber page = first; page < last;) {
    const Located located = touched_object(page, touched);
    // The pages behind it whose first byte is the object's.
    const PageNumber next = page + 1;
    const PageNumber end = located.until > first_byte(next) ? std::min(last, page_of(located.until - 1) + 1) : next;
    note_run(page, 1, end - page, located, place);
    page = end;
  }
}

void AddressSpace::note_huge(std::uint64_t block, PageNumber touched_page, AddressRange touched, const Place& place) {
  if (huge_.size() <= block) huge_.resize(block + 1, 0);
  huge_[block] = 1;
  ++huge_pages_;
  const PageNumber first{block * pages_per_huge_};
  page_table_.fill(first, first + pages_per_huge_, PageTable::pending);
  note_run(first, pages_per_huge_, 1, touched_object(touched_page, touched), place);
}

void AddressSpace::note_run(PageNumber first, std::uint64_t pages, std::uint64_t count, const Located& located, const Place& place) {
  const auto offset = static_cast<std::int64_t>(first_byte(first) - located.base);
  runs_.push_back({.first = {.page = first,
                             .object = located.object,
                             .place = place,
                             .write = true,
                             .offset = offset,
                             .bytes = pages * page_bytes_,
                             .pages = pages},
                   .count = count});
}

bool AddressSpace::can_be_huge(std::uint64_t block) const {
  if (pages_per_huge_ == 0) return false;
  const PageNumber first{block * pages_per_huge_}, last = first + pages_per_huge_;
  auto after = mapped_.upper_bound(first);
  if (after == mapped_.begin()) return false;
  PageNumber end = std::prev(after)->second;
  for (; end < last && after != mapped_.end() && after->first == end; ++after) end = after->second;
  if (end < last || bound_node(first) != bound_node(last - 1)) return false;
  return page_table_.end_to_map(first, last, true) == last;
}

std::uint64_t AddressSpace::settle() {
  std::fill(settled_pages_.begin(), settled_pages_.end(), 0);
  settled_cold_ = 0;
  if (runs_.empty()) return 0;
  if (runs_.size() > 1)
    std::sort(runs_.begin(), runs_.end(), [](const FaultRun& a, const FaultRun& b) { return a.first.page < b.first.page; });
  std::uint64_t settled = 0;
  for (const FaultRun& run : runs_) settled += run.count;
  bound_runs_.clear();
  if (!bound_.empty()) take_bound_runs();
  place_free_runs();
  for (const auto& [run, node] : bound_runs_) place(run, {&node, 1});
  page_faults_ += settled;
  runs_.clear();
  return settled;
}

// The placement hears of pages only that no heap has bound to a node.
void AddressSpace::take_bound_runs() {
  const std::vector<FaultRun> all = std::exchange(runs_, {});
  for (const FaultRun& run : all) {
    for (std::uint64_t from = 0, faults = 0; from < run.count; from += faults) {
      const PageNumber page = run.fault(from).page;
      const auto after = bound_.upper_bound(page);
      const std::optional<NodeId> node = bound_node(page);
      // Up to here what is true of the page's first byte is true of the next pages'.
      faults = run.count - from;
      const auto end_at = [&](PageNumber end) { faults = std::min(faults, (end - page - 1) / run.first.pages + 1); };
      if (node) end_at(std::prev(after)->second.first);
      if (after != bound_.end()) end_at(after->first);
      if (node) {
        bound_runs_.emplace_back(run.part(from, faults), *node);
      } else {
        runs_.push_back(run.part(from, faults));
      }
    }
  }
}

void AddressSpace::place_free_runs() {
  for (const FaultRun& run : runs_) {
    homes_.clear();
    policy_.repeating_homes(run.first.place, homes_);
    if (homes_.empty()) break;
    place(run, homes_);
  }
  if (runs_.empty() || !homes_.empty()) return;
  faults_.clear();
  for (const FaultRun& run : runs_)
    for (std::uint64_t n = 0; n < run.count; ++n) faults_.push_back(run.fault(n));
  homes_.assign(faults_.size(), NodeId::none());
  policy_.fault(faults_, homes_);
  auto home = homes_.cbegin();
  for (const FaultRun& run : runs_) {
    for (std::uint64_t from = 0; from < run.count;) {
      const std::uint64_t first = from;
      const NodeId wanted = *home;
      while (from < run.count && *home == wanted) ++from, ++home;
      place(run.part(first, from - first), {&wanted, 1});
    }
  }
}

void AddressSpace::count_by_node(const FaultRun& run, std::span<const NodeId> homes) {
  by_node_.assign(machine_.nodes.size(), 0);
  const std::uint64_t number = run.first.number_of_its_size();
  for (std::uint64_t n = 0; n < std::min<std::uint64_t>(run.count, homes.size()); ++n) {
    const NodeId home = homes[(number + n) % homes.size()];
    if (home.index() >= by_node_.size()) {
      throw PolicyError("placement gave page " + std::to_string(run.fault(n).page.value()) + " the home " +
                        (home.is_none() ? "none" : std::to_string(home.value())) + "; allowed: nodes 0 to " +
                        std::to_string(by_node_.size() - 1));
    }
    by_node_[home.index()] += ((run.count - n - 1) / homes.size() + 1) * run.first.pages;
  }
}

void AddressSpace::place(const FaultRun& run, std::span<const NodeId> wanted) {
  count_by_node(run, wanted);
  const std::uint64_t cold = memory_.cold();
  bool fits = true;
  for (std::size_t node = 0; node < by_node_.size(); ++node) fits = fits && memory_.has_room(NodeId{node}, by_node_[node]);
  if (fits) {
    for (std::size_t node = 0; node < by_node_.size(); ++node)
      if (by_node_[node] != 0) memory_.take(NodeId{node}, by_node_[node]);
    placed(run, wanted);
  } else if (run.count == 1) {
    const NodeId home = memory_.take(wanted[run.first.number_of_its_size() % wanted.size()], run.first.pages);
    count_by_node(run, {&home, 1});
    placed(run, {&home, 1});
  } else {
    for (std::uint64_t n = 0; n < run.count; ++n) place(run.part(n, 1), wanted);
    return;
  }
  if (run.first.pages == 1) settled_cold_ += memory_.cold() - cold;
}

// `by_node_` has counted them.
void AddressSpace::placed(const FaultRun& run, std::span<const NodeId> homes) {
  const PageNumber first = run.first.page, last = first + run.pages();
  const auto home_of_fault = [&, number = run.first.number_of_its_size()](std::uint64_t n) { return homes[(number + n) % homes.size()]; };
  if (homes.size() == 1) {
    page_table_.fill(first, last, static_cast<std::uint8_t>(homes.front().value()));
  } else {
    const std::uint64_t pages = run.first.pages;
    for (std::uint64_t n = 0; n < run.count; ++n)
      page_table_.fill(first + n * pages, first + (n + 1) * pages, static_cast<std::uint8_t>(home_of_fault(n).value()));
  }
  watch_.placed(first, last);
  object_pages_.placed(first, last, run.first.object, by_node_);
  for (std::size_t node = 0; node < by_node_.size(); ++node) {
    pages_by_node_[node] += by_node_[node];
    settled_pages_[node] += by_node_[node];
    if (NodeId{node} != run.first.place.node) remote_pages_ += by_node_[node];
  }
  if (!keeps_placed_) return;
  for (PageNumber page = first; page < last; ++page)
    keep_placed(page, run.first.object, run.first.place.thread, home_of_fault((page - first) / run.first.pages));
}

}  // namespace homenode
