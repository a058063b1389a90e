// Writes what the recording runtime would send (stream.h), for tests of the assembler: a program is described by its accesses,
// runs are found as the runtime finds them, the messages go through a pipe.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <vector>

extern "C" {
#include "traces/capture/runtime/stream.h"
}

namespace homenode::test {

class StreamWriter {
public:
  void little(std::uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i) bytes_ += static_cast<char>(value >> (8 * i));
  }
  void u(std::uint64_t value) {
    while (value >= 128) {
      bytes_ += static_cast<char>(value | 128);
      value >>= 7;
    }
    bytes_ += static_cast<char>(value);
  }
  void z(std::int64_t value) { u((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63)); }
  void text(const std::string& value) {
    u(value.size());
    bytes_ += value;
  }
  void opcode(int value) { bytes_ += static_cast<char>(value); }
  void hello(std::uint32_t team = 1) {
    opcode(HN_HELLO);
    u(HN_STREAM_VERSION), u(4096), u(team), u(0x7000'0000'0000), u(0x7000'0010'0000);
  }
  void pc(std::uint64_t id, int kind, unsigned width) {
    opcode(HN_PC);
    u(id), u(static_cast<std::uint64_t>(kind)), u(width), u(0), u(0), u(0x1000 + id);
  }
  void allocate(std::uint64_t address, std::uint64_t bytes) {
    opcode(HN_ALLOCATE);
    u(address), u(bytes), u(HN_HEAP_ALLOCATE), u(0), u(0), u(16), u(0), u(0x9000);
  }
  void release(std::uint64_t address) {
    opcode(HN_RELEASE);
    u(address), u(HN_HEAP_RELEASE), u(0), u(0x9001);
  }
  void parallel_begin(std::uint64_t serial, unsigned team = 1, std::uint64_t site = 0x2000) {
    opcode(HN_PARALLEL_BEGIN);
    u(serial), u(team), u(0), u(site), u(0), u(site);
  }
  void parallel_end(std::uint64_t serial) { opcode(HN_PARALLEL_END), u(serial); }
  void loop_begin(std::uint64_t site, std::int64_t iterations) {
    opcode(HN_LOOP_BEGIN);
    u(0), u(site), z(0), z(iterations), z(1), u(0), u(static_cast<std::uint64_t>(iterations));
  }
  void item(std::int64_t iteration) { opcode(HN_ITEM), u(static_cast<std::uint64_t>(iteration)); }
  void loop_end(bool nowait = false) { opcode(HN_LOOP_END), u(nowait ? 1 : 0); }
  void barrier(std::uint64_t site = 0x8000) { opcode(HN_BARRIER), u(0), u(site); }
  void rank(unsigned rank) { opcode(HN_RANK), u(rank); }
  void user_rank() { opcode(HN_USER_RANK); }
  void streamable(std::uint64_t address, std::uint64_t bytes) {
    opcode(HN_MARK);
    u(HN_MARK_STREAMABLE), u(0), u(address), u(bytes), text("");
  }
  void label(const std::string& name) {
    opcode(HN_MARK);
    u(HN_MARK_LABEL), u(0), u(0), u(0), text(name);
  }
  void may_cut() { opcode(HN_MAY_CUT); }
  void end() { opcode(HN_END), u(0), u(0); }

  // From here on runs of one and two go as the messages of fixed length, as the runtime sends them.
  void short_messages() { short_ = true; }
  void run(std::uint64_t pc, std::uint64_t base, std::uint64_t sequence, std::uint64_t count, std::int64_t stride, std::uint64_t dsequence,
           std::uint64_t distance = 0) {
    Last& last = last_[pc];
    if (short_ && (count == 1 || (count == 2 && distance == 0))) {
      opcode(count == 1 ? HN_ACCESS : HN_PAIR);
      little(pc, 2), little(sequence, 4), little(base - last.base, 6);
      if (count == 1) {
        little(distance, 2);
        last.base = base;
      } else {
        little(static_cast<std::uint64_t>(stride), 4), little(dsequence, 2);
        last = {true, base, count, stride, dsequence, distance};
      }
      return;
    }
    const bool same =
        last.known && last.count == count && last.stride == stride && last.dsequence == dsequence && last.distance == distance;
    opcode(same ? HN_RUN_SAME : HN_RUN);
    u(pc);
    if (!same) u(count);
    z(static_cast<std::int64_t>(base - last.base));
    u(sequence);
    if (!same) {
      if (count > 1) z(stride), u(dsequence);
      u(distance);
    }
    last = {true, base, count, stride, dsequence, distance};
  }
  void column(std::uint64_t pc, const std::vector<std::pair<std::uint64_t, std::uint64_t>>& address_and_sequence, std::uint64_t distance) {
    opcode(HN_COLUMN);
    u(pc), u(address_and_sequence.size());
    std::uint64_t previous = 0;
    for (const auto& [address, sequence] : address_and_sequence) {
      z(static_cast<std::int64_t>(address - last_[pc].base));
      last_[pc].base = address;
      u(sequence - previous);
      previous = sequence;
      u(distance);
    }
  }

  struct Access {
    std::uint64_t pc, address;
  };
  // An item's accesses in program order, sent as the runs that a greedy recorder finds for each site.
  void accesses(const std::vector<Access>& list) {
    std::map<std::uint64_t, std::vector<std::pair<std::uint64_t, std::uint64_t>>> by_pc;
    for (std::size_t sequence = 0; sequence < list.size(); ++sequence)
      by_pc[list[sequence].pc].emplace_back(list[sequence].address, sequence);
    for (const auto& [pc, all] : by_pc) {
      for (std::size_t i = 0; i < all.size();) {
        std::size_t end = i + 1;
        if (end < all.size()) {
          const std::uint64_t stride = all[end].first - all[i].first, step = all[end].second - all[i].second;
          while (end < all.size() && all[end].first - all[end - 1].first == stride && all[end].second - all[end - 1].second == step) ++end;
        }
        const bool several = end - i > 1;
        run(pc, all[i].first, all[i].second, end - i, several ? static_cast<std::int64_t>(all[i + 1].first - all[i].first) : 0,
            several ? all[i + 1].second - all[i].second : 0);
        i = end;
      }
    }
  }

  // Calls read(descriptor) at the other end of a pipe that carries everything written so far.
  template <class Read>
  void send(Read&& read) const {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
    std::thread sender{[this, descriptor = ends[1]] {
      for (std::size_t at = 0; at < bytes_.size();) {
        const ssize_t sent = ::write(descriptor, bytes_.data() + at, bytes_.size() - at);
        if (sent <= 0) break;
        at += static_cast<std::size_t>(sent);
      }
      ::close(descriptor);
    }};
    try {
      read(ends[0]);
    } catch (...) {
      ::close(ends[0]);
      sender.join();
      throw;
    }
    ::close(ends[0]);
    sender.join();
  }
  const std::string& bytes() const { return bytes_; }
  void cut(std::size_t size) { bytes_.resize(size); }

private:
  struct Last {
    bool known = false;
    std::uint64_t base = 0, count = 1;
    std::int64_t stride = 0;
    std::uint64_t dsequence = 0, distance = 0;
  };
  std::string bytes_;
  std::map<std::uint64_t, Last> last_;
  bool short_ = false;
};

}  // namespace homenode::test
