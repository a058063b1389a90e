#include "sim/memory/address_space.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>

#include "sim/base/errors.hpp"
#include "sim/machine/machine.hpp"
#include "sim/program/workload.hpp"

namespace homenode {
namespace {

constexpr std::uint64_t many_pages = 16;

// Of pages that follow each other on one node, up to `last`, the first behind them. Interleaved ones end at once.
PageNumber end_of_run(const PageTable& table, PageNumber page, PageNumber last) {
  const PageNumber next = page + 1;
  return next >= last || table[next] != table[page] ? next : table.end_of_equal(next, last);
}

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
      replicas_{machine},
      pages_per_huge_{static_cast<std::uint64_t>(huge.count()) / page_bytes_},
      settled_pages_(machine.nodes.size(), 0),
      pages_by_node_(machine.nodes.size(), 0),
      object_pages_{machine.nodes.size()} {
  if (machine.nodes.size() > PageTable::most_nodes) {
    throw UsageError("machine '" + machine.name + "' has " + std::to_string(machine.nodes.size()) + " nodes; at most " +
                     std::to_string(PageTable::most_nodes) + " are allowed");
  }
  if (pages_per_huge_ != 0) page_table_.grow(base_pages % pages_per_huge_);
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
  page_table_.grow(pages);
  note_mapping(base, pages);
  return base;
}

AddressRange AddressSpace::reserve(std::uint64_t bytes, std::uint64_t alignment) {
  const std::uint64_t size = round_up(bytes, page_bytes_);
  if (alignment > page_bytes_) {
    const Address end = first_byte(PageNumber{page_table_.size()});
    page_table_.grow((round_up(end, alignment) - end) / page_bytes_);
    const Address base = first_byte(PageNumber{page_table_.size()});
    page_table_.grow(size / page_bytes_);
    note_mapping(base, size / page_bytes_);
    return AddressRange::of(base, size);
  }
  return AddressRange::of(reserve_pages(size), size);
}

std::uint64_t AddressSpace::forget_frames(AddressRange range) {
  std::uint64_t given_back = 0;
  const PageNumber first = page_of(range.first), last = page_of(range.last);
  if (first >= last) return 0;
  check_page(last - 1);
  for (PageNumber page = first; page < last && replicas_.any(); ++page) {
    if (!replicated(page)) continue;
    const NodeId home = replicas_.home(page);
    replicas_.remove(page, memory_);
    page_table_.set(page, static_cast<std::uint8_t>(home.value()));
  }
  replicas_.forget(first, last);
  for (PageNumber page = first; page < last;) {
    const PageNumber end = end_of_run(page_table_, page, last);
    if (const NodeId home = page_table_.home(page); !home.is_none()) {
      memory_.give_back(home, end - page);
      given_back += end - page;
    }
    page = end;
  }
  page_table_.fill(first, last, PageTable::unmapped);
  for (PageNumber page = first; pages_per_huge_ != 0 && page < last; ++page) split_huge(page);
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
  const PageNumber last = page_of(block->first) + (block->second.end - block->first + page_bytes_ - 1) / page_bytes_;
  for (PageNumber page = page_of(block->first), end; page < last; page = end) {
    end = end_of_run(page_table_, page, last);
    const NodeId home = page_table_.home(page);
    if (!home.is_none() && home != block->second.owner) remote += end - page;
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

AddressSpace::Released AddressSpace::release_object(ObjectId id) {
  Placement& placement = shared_[id.index()];
  const AddressRange range = AddressRange::of(placement.base, placement.bytes);
  AddressRange pages;
  std::uint64_t given_back = 0;
  if (placement.base != Address{} && placement.mapped_alone) {
    const PageNumber first = page_of(range.first), last = page_of(range.last + page_bytes_ - 1);
    pages = {first_byte(first), first_byte(last)};
    given_back = forget_frames(pages);
    mapped_.erase(first);
    free_ranges_[last - first].push_back(first_byte(first));
    if (workload_.objects[id.index()].kind == ObjectKind::heap) heap_bytes_placed_ -= (last - first) * page_bytes_;
  }
  if (placement.base != Address{}) object_at_.erase(placement.base);
  owned_.erase(placement.base);
  placement = {};
  return {range, pages, given_back};
}

Address AddressSpace::address(ObjectId object, ThreadId thread) {
  const Placement& placement = placement_of(object, thread);
  return placement.base != Address{} ? placement.base : place_object(object, thread).first;
}

AddressSpace::Located AddressSpace::object_in(AddressRange range) const {
  const auto after = object_at_.upper_bound(range.first);
  if (after != object_at_.begin() && std::prev(after)->second.first > range.first) {
    const auto before = std::prev(after);
    const Address end = before->second.first;
    return {before->second.second, before->first, after != object_at_.end() ? std::min(end, after->first) : end};
  }
  if (after != object_at_.end() && after->first < range.last) return {after->second.second, after->first, range.first};
  return {};
}

void AddressSpace::homes(LineRange lines, NodeId reader, std::vector<HomeShare>& shares) const {
  if (lines.first >= lines.last) return;
  const PageNumber first = page_of(lines.first), last = page_of(lines.last - 1);
  check_page(last);
  const auto add = [&](std::uint8_t home, std::uint64_t count) {
    const NodeId node = PageTable::home_for(reader, home);
    auto share = std::find_if(shares.begin(), shares.end(), [node](const HomeShare& s) { return s.home == node; });
    if (share == shares.end()) {
      shares.push_back({node, count});
    } else {
      share->lines += count;
    }
  };
  const auto lines_between = [&](PageNumber page, PageNumber end) {
    return std::min(first_line(end), lines.last) - std::max(first_line(page), lines.first);
  };
  if (last - first < many_pages) {
    for (PageNumber page = first, end; page <= last; page = end) {
      const std::uint8_t home = page_table_[page];
      end = end_of_run(page_table_, page, last + 1);
      add(home, lines_between(page, end));
    }
    return;
  }
  // Interleaved pages come back to a node again and again: first counted, then added.
  std::array<std::uint64_t, 256> count{};
  std::array<std::uint8_t, 256> order{};  // in which they came
  std::size_t found = 0;
  for (PageNumber page = first, end; page <= last; page = end) {
    const std::uint8_t home = page_table_[page];
    end = end_of_run(page_table_, page, last + 1);
    if (count[home] == 0) order[found++] = home;
    count[home] += end - page;
  }
  const std::uint64_t page_lines = std::uint64_t{1} << page_lines_shift_;
  for (std::size_t i = 0; i < found; ++i) count[order[i]] *= page_lines;
  count[page_table_[first]] -= page_lines - lines_between(first, first + 1);
  count[page_table_[last]] -= page_lines - lines_between(last, last + 1);
  for (std::size_t i = 0; i < found; ++i) add(order[i], count[order[i]]);
}

NodeId AddressSpace::home_of(Address address) const {
  if (address < first_address) return NodeId::none();
  const PageNumber page = page_of(address);
  return page.value() < page_table_.size() ? home_of_page(page) : NodeId::none();
}

NodeId AddressSpace::home_for(Address address, NodeId reader) const {
  if (address < first_address) return reader;
  const PageNumber page = page_of(address);
  return page.value() < page_table_.size() ? PageTable::home_for(reader, page_table_[page]) : reader;
}

bool AddressSpace::migrate(PageNumber page, NodeId to) {
  const NodeId home = home_of_page(page);
  if (home.is_none()) return false;
  if (replicated(page)) {
    replicas_.remove(page, memory_);
    page_table_.set(page, static_cast<std::uint8_t>(home.value()));
  }
  if (home == to || !memory_.has_room(to)) return false;
  memory_.give_back(home);
  memory_.take(to);
  split_huge(page);
  page_table_.set(page, static_cast<std::uint8_t>(to.value()));
  count_move(page, home, to);
  ++migrated_pages_;
  return true;
}

// Carrefour's kernel replicates no huge page (mm/replicate.c, rep_update_pages).
bool AddressSpace::replicate(PageNumber page, std::vector<NodeId>& copies) {
  const NodeId home = home_of_page(page);
  if (home.is_none() || replicated(page) || in_huge_page(page)) return false;
  if (!replicas_.add(page, home, memory_, copies)) return false;
  page_table_.set(page, PageTable::replicated);
  return true;
}

void AddressSpace::collapse(PageNumber first, PageNumber last, NodeId writer) {
  for (PageNumber page = first; page < last && replicas_.any(); ++page) {
    if (!replicated(page)) continue;
    const NodeId home = replicas_.home(page), kept = replicas_.collapse(page, writer, memory_);
    page_table_.set(page, static_cast<std::uint8_t>(kept.value()));
    if (kept != home) count_move(page, home, kept);
    watch_.collapsed(page);
  }
}

void AddressSpace::count_move(PageNumber page, NodeId from, NodeId to) {
  object_pages_.moved(page, from, to);
  --pages_by_node_[from.index()];
  ++pages_by_node_[to.index()];
  if (keeps_placed_) keep_placed(page, object_in(bytes_of(page)).object, ThreadId{0}, to);
}

}  // namespace homenode
