#include "sim/memory/address_space.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "sim/base/errors.hpp"
#include "sim/machine/machine.hpp"
#include "sim/program/workload.hpp"

namespace homenode {
namespace {

constexpr Address first_address{std::uint64_t{1} << 32};

}  // namespace

AddressSpace::AddressSpace(const Machine& machine, const Workload& workload, PagePlacement& policy, Bytes page, Bytes huge,
                           std::uint64_t base_pages)
    : machine_{machine},
      workload_{workload},
      policy_{policy},
      watch_{*this, policy},
      page_bytes_{static_cast<std::uint64_t>(page.count())},
      line_bytes_{static_cast<std::uint64_t>(machine.caches.empty() ? 64 : machine.caches.front().line.count())},
      shared_(workload.objects.size()),
      private_(workload.objects.size()),
      memory_{machine, page_bytes_},
      pages_per_huge_{static_cast<std::uint64_t>(huge.count()) / page_bytes_},
      settled_pages_(machine.nodes.size(), 0),
      pages_by_node_(machine.nodes.size(), 0),
      object_pages_{machine.nodes.size()} {
  if (machine.nodes.size() > pending) {
    throw UsageError("machine '" + machine.name + "' has " + std::to_string(machine.nodes.size()) + " nodes; at most 253 are allowed");
  }
  if (pages_per_huge_ != 0) page_table_.resize(base_pages % pages_per_huge_, unmapped);
}

Address AddressSpace::reserve_pages(std::uint64_t bytes) {
  const std::uint64_t pages = round_up(bytes, page_bytes_) / page_bytes_;
  auto reusable = free_ranges_.find(pages);
  if (reusable != free_ranges_.end() && !reusable->second.empty()) {
    const Address base = reusable->second.back();
    reusable->second.pop_back();
    note_mapping(base, pages);
    return base;
  }
  const Address base = first_byte(PageNumber{page_table_.size()});
  page_table_.resize(page_table_.size() + pages, unmapped);
  note_mapping(base, pages);
  return base;
}

AddressRange AddressSpace::reserve(std::uint64_t bytes, std::uint64_t alignment) {
  const std::uint64_t size = round_up(bytes, page_bytes_);
  if (alignment > page_bytes_) {
    const Address end = first_byte(PageNumber{page_table_.size()});
    page_table_.resize(page_table_.size() + (round_up(end, alignment) - end) / page_bytes_, unmapped);
    const Address base = first_byte(PageNumber{page_table_.size()});
    page_table_.resize(page_table_.size() + size / page_bytes_, unmapped);
    note_mapping(base, size / page_bytes_);
    return AddressRange::of(base, size);
  }
  return AddressRange::of(reserve_pages(size), size);
}

std::uint64_t AddressSpace::forget_frames(AddressRange range) {
  std::uint64_t given_back = 0;
  const PageNumber last = page_of(range.last);
  for (PageNumber page = page_of(range.first); page < last; ++page) {
    std::uint8_t& home = page_table_.at(page.value());
    if (home < pending) {
      memory_.give_back(NodeId{home});
      ++given_back;
    }
    home = unmapped;
    split_huge(page);
  }
  return given_back;
}

void AddressSpace::split_huge(PageNumber page) {
  if (in_huge_page(page)) huge_[page.value() / pages_per_huge_] = 0;
}

std::uint64_t AddressSpace::discard(AddressRange range) { return forget_frames(range); }

std::uint64_t AddressSpace::unmap(AddressRange range) {
  const std::uint64_t given_back = forget_frames(range);
  const PageNumber first = page_of(range.first);
  const std::uint64_t pages = range.size() / page_bytes_;
  bound_.erase(bound_.lower_bound(first), bound_.lower_bound(first + pages));
  mapped_.erase(first);
  if (pages > 0) free_ranges_[pages].push_back(range.first);
  return given_back;
}

void AddressSpace::bind_pages(AddressRange range, NodeId node) { bound_[page_of(range.first)] = {page_of(range.last), node}; }

std::optional<NodeId> AddressSpace::bound_node(PageNumber page) const {
  const auto after = bound_.upper_bound(page);
  if (after == bound_.begin() || std::prev(after)->second.first <= page) return std::nullopt;
  return std::prev(after)->second.second;
}

void AddressSpace::bind_object(ObjectId id, ThreadId thread, AddressRange range, NodeId owner) {
  Placement& placement = placement_of(id, thread);
  if (placement.base != range.first) {  // else place_object put it there
    placement = {range.first, range.size(), false};
    object_at_[range.first] = {range.last, id};
  }
  // As long as a page is not mixed, its blocks are all for one node, and a neighbour in the order of addresses tells which.
  const auto at = owned_.insert_or_assign(range.first, Owned{range.last, owner}).first;
  if (at != owned_.begin()) {
    const Owned& before = std::prev(at)->second;
    if (before.owner != owner && page_of(before.end - 1) == page_of(range.first)) mixed_pages_.insert(page_of(range.first));
  }
  if (const auto after = std::next(at); after != owned_.end()) {
    if (after->second.owner != owner && page_of(after->first) == page_of(range.last - 1)) mixed_pages_.insert(page_of(after->first));
  }
}

std::uint64_t AddressSpace::remote_pages_of(ObjectId id, ThreadId thread) {
  const Placement& placement = placement_of(id, thread);
  const auto block = owned_.find(placement.base);
  if (block == owned_.end()) return 0;
  std::uint64_t remote = 0;
  for (Address at = block->first; at < block->second.end; at += page_bytes_) {
    const NodeId home = home_of(at);
    remote += !home.is_none() && home != block->second.owner;
  }
  return remote;
}

void AddressSpace::unbind_object(ObjectId id, ThreadId thread) {
  Placement& placement = placement_of(id, thread);
  object_at_.erase(placement.base);
  owned_.erase(placement.base);
  placement = {};
}

Address AddressSpace::pack(std::uint64_t bytes, std::uint64_t alignment, std::size_t owner) {
  if (arenas_.size() <= owner) arenas_.resize(owner + 1);
  Arena& arena = arenas_[owner];
  Address base = round_up(arena.next, alignment);
  if (arena.next == Address{} || base + bytes > arena.end) {
    const std::uint64_t size = std::max(own_pages_from, round_up(bytes + alignment, page_bytes_));
    if (owner != 0) heap_bytes_placed_ += round_up(size, page_bytes_);
    arena.next = reserve_pages(size);
    arena.end = arena.next + round_up(size, page_bytes_);
    base = round_up(arena.next, alignment);
  }
  arena.next = base + bytes;
  return base;
}

AddressSpace::Placement& AddressSpace::placement_of(ObjectId object, ThreadId thread) {
  if (!workload_.objects[object.index()].thread_private) return shared_[object.index()];
  auto& copies = private_[object.index()];
  if (copies.size() <= thread.index()) copies.resize(thread.index() + 1);
  return copies[thread.index()];
}

AddressRange AddressSpace::place_object(ObjectId id, ThreadId owner) {
  const TracedObject& object = workload_.objects[id.index()];
  Placement& placement = placement_of(id, owner);
  if (placement.base == Address{}) {
    const std::uint64_t bytes = std::max<std::uint64_t>(object.bytes, 1);
    const std::uint64_t alignment = std::max<std::uint64_t>(object.alignment, 16);
    if (object.kind == ObjectKind::heap && bytes >= own_pages_from) {
      const std::uint64_t header = alignment <= heap_header ? heap_header : alignment % page_bytes_;
      placement = {reserve_pages(bytes + header) + header, bytes, true};
      heap_bytes_placed_ += round_up(bytes + header, page_bytes_);
    } else if (object.kind == ObjectKind::mapped || bytes >= own_pages_from) {
      placement = {reserve_pages(bytes), bytes, object.kind == ObjectKind::mapped};
    } else {
      const bool global = object.kind == ObjectKind::global || object.kind == ObjectKind::unknown;
      placement = {pack(bytes, alignment, global ? 0 : 1 + owner.index()), bytes, false};
    }
    object_at_[placement.base] = {placement.base + bytes, id};
  }
  return AddressRange::of(placement.base, placement.bytes);
}

AddressRange AddressSpace::release_object(ObjectId id) {
  Placement& placement = shared_[id.index()];
  const AddressRange range = AddressRange::of(placement.base, placement.bytes);
  if (placement.base != Address{} && placement.mapped_alone) {
    const PageNumber first = page_of(range.first), last = page_of(range.last + page_bytes_ - 1);
    forget_frames({first_byte(first), first_byte(last)});
    mapped_.erase(first);
    free_ranges_[last - first].push_back(first_byte(first));
    if (workload_.objects[id.index()].kind == ObjectKind::heap) heap_bytes_placed_ -= (last - first) * page_bytes_;
  }
  if (placement.base != Address{}) object_at_.erase(placement.base);
  owned_.erase(placement.base);
  placement = {};
  return range;
}

Address AddressSpace::address(ObjectId object, ThreadId thread) {
  const Placement& placement = placement_of(object, thread);
  return placement.base != Address{} ? placement.base : place_object(object, thread).first;
}

AddressSpace::Located AddressSpace::object_in(AddressRange range) const {
  const auto after = object_at_.upper_bound(range.first);
  if (after != object_at_.begin() && std::prev(after)->second.first > range.first) {
    const auto before = std::prev(after);
    return {before->second.second, before->first};
  }
  if (after != object_at_.end() && after->first < range.last) return {after->second.second, after->first};
  return {};
}

std::uint64_t AddressSpace::touch(AddressRange range, bool write, const Place& place) {
  note_touch(range, write, place);
  return settle();
}

void AddressSpace::note_touch(AddressRange range, bool write, const Place& place) {
  if (range.last <= range.first) return;
  PageNumber page = page_of(range.first);
  const PageNumber last = page_of(range.last - 1);
  watch_.touched(page, last);
  for (; page <= last; ++page) {
    std::uint8_t& home = page_table_.at(page.value());
    if (home < zero_page || (home == zero_page && !write)) continue;
    if (!write) {
      home = zero_page;
      continue;
    }
    note_fault(page, range, place);
  }
}

void AddressSpace::keep_placed(PageNumber page, ObjectId object, ThreadId thread, NodeId home) {
  const Address base = object.is_none() ? Address{} : placement_of(object, thread).base;
  placed_.push_back({object, base == Address{} ? 0 : page - page_of(base), home});
}

void AddressSpace::note_fault(PageNumber page, AddressRange touched, const Place& place) {
  const AddressRange bytes = bytes_of(page);
  const Located located = object_in({std::max(bytes.first, touched.first), std::min(bytes.last, touched.last)});
  const auto fault = [&](PageNumber first, std::uint64_t pages) {
    const auto offset = static_cast<std::int64_t>(first_byte(first) - located.base);
    faults_.push_back({.page = first,
                       .object = located.object,
                       .place = place,
                       .write = true,
                       .offset = offset,
                       .bytes = pages * page_bytes_,
                       .pages = pages});
  };
  const std::uint64_t block = pages_per_huge_ != 0 ? page.value() / pages_per_huge_ : 0;
  if (!can_be_huge(block)) {
    page_table_[page.value()] = pending;
    fault(page, 1);
    return;
  }
  if (huge_.size() <= block) huge_.resize(block + 1, 0);
  huge_[block] = 1;
  ++huge_pages_;
  const auto first = page_table_.begin() + static_cast<std::ptrdiff_t>(block * pages_per_huge_);
  std::fill(first, first + static_cast<std::ptrdiff_t>(pages_per_huge_), pending);
  fault(PageNumber{block * pages_per_huge_}, pages_per_huge_);
}

bool AddressSpace::can_be_huge(std::uint64_t block) const {
  if (pages_per_huge_ == 0) return false;
  const PageNumber first{block * pages_per_huge_}, last = first + pages_per_huge_;
  auto after = mapped_.upper_bound(first);
  if (after == mapped_.begin()) return false;
  PageNumber end = std::prev(after)->second;
  for (; end < last && after != mapped_.end() && after->first == end; ++after) end = after->second;
  if (end < last || bound_node(first) != bound_node(last - 1)) return false;
  const auto begin = page_table_.begin() + static_cast<std::ptrdiff_t>(first.value());
  return std::all_of(begin, begin + static_cast<std::ptrdiff_t>(pages_per_huge_), [](std::uint8_t home) { return home >= zero_page; });
}

std::uint64_t AddressSpace::settle() {
  std::fill(settled_pages_.begin(), settled_pages_.end(), 0);
  if (faults_.empty()) return 0;
  std::sort(faults_.begin(), faults_.end(), [](const PageFault& a, const PageFault& b) { return a.page < b.page; });
  // The placement hears of pages only that no heap has bound to a node.
  const auto free = [this](const PageFault& fault) { return !bound_node(fault.page); };
  const auto first_bound = bound_.empty() ? faults_.end() : std::stable_partition(faults_.begin(), faults_.end(), free);
  const auto decided = static_cast<std::size_t>(first_bound - faults_.begin());
  homes_.assign(faults_.size(), NodeId::none());
  if (decided > 0) policy_.fault(std::span{faults_}.first(decided), std::span{homes_}.first(decided));
  for (std::size_t i = decided; i < faults_.size(); ++i) homes_[i] = *bound_node(faults_[i].page);
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    if (homes_[i].index() >= machine_.nodes.size()) {
      throw PolicyError("placement gave page " + std::to_string(faults_[i].page.value()) + " the home " +
                        (homes_[i].is_none() ? "none" : std::to_string(homes_[i].value())) + "; allowed: nodes 0 to " +
                        std::to_string(machine_.nodes.size() - 1));
    }
    const std::uint64_t pages = faults_[i].pages;
    const NodeId home = memory_.take(homes_[i], pages);
    for (PageNumber page = faults_[i].page; page < faults_[i].page + pages; ++page) {
      page_table_[page.value()] = static_cast<std::uint8_t>(home.value());
      watch_.placed(page);
      object_pages_.placed(page, faults_[i].object, home);
      if (keeps_placed_) keep_placed(page, faults_[i].object, faults_[i].place.thread, home);
    }
    pages_by_node_[home.index()] += pages;
    settled_pages_[home.index()] += pages;
    if (home != faults_[i].place.node) remote_pages_ += pages;
  }
  const std::uint64_t settled = faults_.size();
  page_faults_ += settled;
  faults_.clear();
  return settled;
}

void AddressSpace::homes(LineRange lines, NodeId reader, std::vector<HomeShare>& shares) const {
  if (lines.first >= lines.last) return;
  const LineNumber line_of_first_page = line_of(first_address, line_bytes_);
  const std::uint64_t last_page = (lines.last - 1 - line_of_first_page) >> page_lines_shift_;
  if (last_page >= page_table_.size()) throw std::out_of_range("lines beyond the last page");
  for (LineNumber line = lines.first; line < lines.last;) {
    const std::uint64_t page = (line - line_of_first_page) >> page_lines_shift_;
    const std::uint8_t home = page_table_[page];
    // Pages of one home in a row are one step.
    std::uint64_t next_page = page + 1;
    while (next_page <= last_page && page_table_[next_page] == home) ++next_page;
    const LineNumber end = std::min(lines.last, line_of_first_page + (next_page << page_lines_shift_));
    const NodeId node = home < zero_page ? NodeId{home} : reader;
    auto share = std::find_if(shares.begin(), shares.end(), [node](const HomeShare& s) { return s.home == node; });
    if (share == shares.end()) {
      shares.push_back({node, end - line});
    } else {
      share->lines += end - line;
    }
    line = end;
  }
}

NodeId AddressSpace::home_of(Address address) const {
  if (address < first_address) return NodeId::none();
  const std::uint64_t page = page_of(address).value();
  if (page >= page_table_.size() || page_table_[page] >= zero_page) return NodeId::none();
  return NodeId{page_table_[page]};
}

PageNumber AddressSpace::page_of(Address address) const { return PageNumber{(address - first_address) >> page_shift_}; }
Address AddressSpace::first_byte(PageNumber page) const { return first_address + page.value() * page_bytes_; }

bool AddressSpace::migrate(PageNumber page, NodeId to) {
  std::uint8_t& home = page_table_.at(page.value());
  if (home >= pending || home == to.value() || !memory_.has_room(to)) return false;
  memory_.give_back(NodeId{home});
  memory_.take(to);
  split_huge(page);
  object_pages_.moved(page, NodeId{home}, to);
  --pages_by_node_[home];
  home = static_cast<std::uint8_t>(to.value());
  ++pages_by_node_[home];
  ++migrated_pages_;
  if (keeps_placed_) keep_placed(page, object_in(bytes_of(page)).object, ThreadId{0}, to);
  return true;
}

}  // namespace homenode
