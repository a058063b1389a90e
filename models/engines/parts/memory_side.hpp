// What keeps state of lines behind all caches, at their home: a memory-side cache in front of the node's memory, and the directory that
// memory keeps beside each line (machine.hpp).
//
// Memory-side cache (HBM or MCDRAM in cache mode): direct-mapped by physical address. Its tags lie with its lines: whoever asks reads a
// line of it first, and that read has the victim, too. So a read that hits is one read of it; a read that misses one read of it, a read of
// memory, a write of it, and a write of memory if the victim was modified. A line that is written and hits is one read and one write of
// it; one that misses is fetched from memory first, as on a read, and then written: with a modified victim five accesses, the most that
// M. Hildebrand et al. count on Cascade Lake (A Case Against Hardware Managed DRAM Caches, ISPASS 2021). Frames are given out in the order
// in which pages first come here: a node whose pages fit into its memory-side cache has no conflicts (*assumed*: memory that is not
// fragmented). A page that the kernel zeroed is in there, modified; none of it was fetched. Lines of the zero page and of replicated pages
// hit.
//
// Directory in memory: a line that a core of another socket reads is noted there, a write of its home's memory, unless it was noted
// already. Writing the line back clears the note, which costs nothing beside. Lines that come from other caches change nothing
// (Intel's parts since Skylake-SP: K. Loughlin et al., MOESI-prime, ISCA 2022).
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/machine/machine.hpp"
#include "sim/memory/address_space.hpp"

namespace homenode {

class MemorySide {
public:
  // `zeroed`: the kernel clears fresh pages, as it does for every program, whatever is known of the traffic. The machine must outlive it.
  MemorySide(const Machine&, bool zeroed);

  // Whether the machine has either; else none of the rest is to be called.
  bool remembers() const { return !slots_.empty() || directory_; }

  // How some lines of one home were served.
  struct Met {
    NodeId home;
    std::uint64_t lines = 0;
    std::uint64_t hits = 0;       // of reads, where the home has a memory-side cache
    std::uint64_t fills = 0;      // lines that it had not and that were written: fetched from memory
    std::uint64_t victims = 0;    // modified lines that it wrote to memory
    std::uint64_t directory = 0;  // lines whose note changed: written to memory
  };
  using Each = std::function<void(const Met&)>;
  // Calls `each` for the lines of each page, in order.
  void read(LineRange, NodeId reader, const AddressSpace&, const Each&);
  void write(LineRange, NodeId writer, const AddressSpace&, const Each&);
  // Pages that lie in the range are given back, or have moved: the next use of one is the first.
  void forget(LineRange);

  // Modified lines of `Met::victims`, since they were last taken.
  std::vector<LineNumber>& victims() { return victims_; }

private:
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
  static constexpr std::uint8_t no_node = 255;
  struct Block {  // the lines of a page, 64 at most
    std::uint32_t frame = nowhere;
    std::uint8_t node = no_node;
    std::uint64_t noted = 0;  // by line: another socket may have it
  };
  // Of one block in a slot; lines of several blocks share one, each line of it is of one.
  struct Held {
    std::uint32_t block = nowhere;
    std::uint64_t present = 0, modified = 0;
  };
  struct Slot {
    Held first;
    std::vector<Held> others;
  };
  struct Node {
    std::uint64_t slots = 0;  // 0: no memory-side cache
    std::uint32_t frames = 0;
    std::vector<std::uint32_t> free;
    std::vector<Slot> by_number;
  };
  struct Part {
    std::uint32_t block = 0;
    std::uint64_t mask = 0;
    std::uint64_t lines = 0;
    NodeId home;
    bool of_all = false;  // each node has the page: the zero page, or one that is replicated
  };
  bool has_side_cache(NodeId node) const { return !slots_.empty() && slots_[node.index()].slots != 0; }
  template <class Do>
  void for_each_part(LineRange, NodeId asker, const AddressSpace&, Do&&);
  Block& block_at(std::uint32_t block, NodeId home, Met&);
  Held& held(Node&, const Block&, std::uint32_t block);
  // Takes the lines in; returns those that were there.
  std::uint64_t take_in(Node&, const Block&, std::uint32_t block, std::uint64_t mask, bool modified, Met&);
  void release(Block&, std::uint32_t block);

  const Machine& machine_;
  bool directory_, zeroed_;
  std::uint64_t line_bytes_;
  unsigned shift_ = 6;  // of a line's number to its block's
  std::uint64_t base_ = 0;
  bool based_ = false;
  std::vector<Node> slots_;  // by node; empty without memory-side caches
  std::vector<Block> blocks_;
  std::vector<LineNumber> victims_;
};

}  // namespace homenode
