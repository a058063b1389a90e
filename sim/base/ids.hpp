// Identifiers that do not convert into each other: a core is not a node, an object is not a region.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace homenode {

template <class Tag, class Representation = std::uint32_t>
class Id {
public:
  using representation = Representation;
  constexpr Id() = default;
  explicit constexpr Id(std::size_t value) : value_{static_cast<Representation>(value)} {}
  constexpr Representation value() const { return value_; }
  constexpr std::size_t index() const { return static_cast<std::size_t>(value_); }
  constexpr auto operator<=>(const Id&) const = default;
  static constexpr Id none() {
    Id id;
    id.value_ = static_cast<Representation>(-1);
    return id;
  }
  constexpr bool is_none() const { return *this == none(); }

private:
  Representation value_ = 0;
};

using ThreadId = Id<struct ThreadTag>;  // a software thread (OpenMP rank)
using CoreId = Id<struct CoreTag>;      // a core of the machine, numbered socket by socket
using SocketId = Id<struct SocketTag>;
using NodeId = Id<struct NodeTag>;  // a NUMA node (locality domain)
using ControllerId = Id<struct ControllerTag>;
using LinkId = Id<struct LinkTag>;      // one direction of one interconnect link
using CacheId = Id<struct CacheTag>;    // one physical cache
using ObjectId = Id<struct ObjectTag>;  // heap block, global, stack frame ...
using RegionId = Id<struct RegionTag>;
using ExecutionId = Id<struct ExecutionTag>;  // one execution of a region
using PatternId = Id<struct PatternTag>;
using SiteId = Id<struct SiteTag>;  // a place in the source
using LockId = Id<struct LockTag, std::uint64_t>;
using ResourceId = Id<struct ResourceTag>;  // something with a bandwidth that activities share
using ActivityId = Id<struct ActivityTag>;
using TaskId = Id<struct TaskTag, std::uint64_t>;  // one explicit or implicit task of a parallel construct
using WorkId = Id<struct WorkTag>;

}  // namespace homenode

template <class Tag, class Representation>
struct std::hash<homenode::Id<Tag, Representation>> {
  std::size_t operator()(homenode::Id<Tag, Representation> id) const noexcept { return std::hash<Representation>{}(id.value()); }
};
