// Streams as the recording runtime would send them, written by hand, and the traces that come of them.
#include "traces/capture/assembler/assembler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "sim/base/errors.hpp"
#include "traces/format/trace_file.hpp"

extern "C" {
#include "traces/capture/runtime/stream.h"
}

namespace homenode {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

// Messages by the layout of stream.h.
class Messages {
public:
  Messages& opcode(int value) {
    bytes_.push_back(static_cast<char>(value));
    return *this;
  }
  Messages& u(std::uint64_t value) {
    for (; value >= 128; value >>= 7) bytes_.push_back(static_cast<char>(value | 128));
    bytes_.push_back(static_cast<char>(value));
    return *this;
  }
  Messages& z(std::int64_t value) { return u((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63)); }
  Messages& s(const std::string& text) {
    u(text.size());
    bytes_ += text;
    return *this;
  }
  Messages& site(std::uint64_t offset) { return u(0).u(offset); }

  Messages& hello(unsigned team = 1) { return opcode(HN_HELLO).u(HN_STREAM_VERSION).u(4096).u(team).u(0x7000000).u(0x7100000); }
  // Accesses 0: reads of 8 bytes, 1: writes of 8 bytes.
  Messages& two_sites() {
    opcode(HN_PC).u(0).u(HN_READ).u(8).u(0).site(0x100);
    return opcode(HN_PC).u(1).u(HN_WRITE).u(8).u(0).site(0x200);
  }
  Messages& allocate(std::uint64_t address, std::uint64_t bytes) {
    return opcode(HN_ALLOCATE).u(address).u(bytes).u(HN_HEAP_ALLOCATE).u(0).u(0).u(16).site(0x300);
  }
  Messages& release(std::uint64_t address) { return opcode(HN_RELEASE).u(address).u(HN_HEAP_RELEASE).site(0x301); }
  // `count` accesses of a site from `base` on; each `dsequence` after the one before.
  Messages& run(unsigned pc, std::uint64_t count, std::uint64_t base, std::uint64_t sequence, std::int64_t stride = 8,
                std::uint64_t dsequence = 1, std::uint64_t distance = 0) {
    opcode(HN_RUN).u(pc).u(count).z(static_cast<std::int64_t>(base - previous_[pc])).u(sequence);
    if (count > 1) z(stride).u(dsequence);
    previous_[pc] = base;
    return u(distance);
  }
  Messages& parallel(std::uint64_t serial, unsigned team) {
    return opcode(HN_PARALLEL_BEGIN).u(serial).u(team).site(0x400 + serial).site(0x400 + serial);
  }
  Messages& parallel_end(std::uint64_t serial) { return opcode(HN_PARALLEL_END).u(serial); }
  Messages& rank(unsigned number) { return opcode(HN_RANK).u(number); }
  Messages& loop(std::int64_t iterations) {
    return opcode(HN_LOOP_BEGIN).site(0x500).z(0).z(iterations).z(1).u(0).u(static_cast<std::uint64_t>(iterations));
  }
  Messages& item(std::uint64_t iteration) { return opcode(HN_ITEM).u(iteration); }
  Messages& loop_end(bool nowait = true) { return opcode(HN_LOOP_END).u(nowait); }
  Messages& end(std::uint64_t accesses) { return opcode(HN_END).u(0).u(accesses); }
  const std::string& bytes() const { return bytes_; }

private:
  std::string bytes_;
  std::uint64_t previous_[2] = {};
};

class StreamProtocol : public testing::Test {
protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "assembler-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  AssembleResult assembled(const std::string& stream) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    std::thread writer{[&] {
      EXPECT_EQ(::write(ends[1], stream.data(), stream.size()), static_cast<ssize_t>(stream.size()));
      ::close(ends[1]);
    }};
    AssembleOptions options;
    options.output = folder_ / "x.hnt";
    options.program = "made-up";
    try {
      const AssembleResult result = assemble(ends[0], options);
      writer.join();
      ::close(ends[0]);
      return result;
    } catch (...) {
      writer.join();
      ::close(ends[0]);
      throw;
    }
  }
  std::shared_ptr<Workload> trace(const std::string& stream) {
    assembled(stream);
    return open_trace(folder_ / "x.hnt");
  }
  std::string refusal(const std::string& stream) {
    try {
      assembled(stream);
    } catch (const InputError& error) { return error.what(); }
    return "";
  }

  fs::path folder_;
};

constexpr std::uint64_t heap = 0x100000;

TEST_F(StreamProtocol, SerialCodeThatAllocatesLoopsAndReleases) {
  const auto workload =
      trace(Messages{}.hello().two_sites().allocate(heap, 800).run(1, 100, heap, 0).run(0, 100, heap, 100).release(heap).end(200).bytes());
  EXPECT_TRUE(workload->complete);
  ASSERT_EQ(workload->executions.size(), 1u);
  const Execution& execution = workload->executions[0];
  EXPECT_EQ(workload->regions[execution.region.index()].kind, RegionKind::serial);
  EXPECT_EQ(execution.accesses, 200u);
  EXPECT_EQ(execution.reads, 100u);
  EXPECT_EQ(execution.writes, 100u);
  const auto body = workload->body(ExecutionId{0});
  ASSERT_EQ(body->blocks.size(), 1u);
  const ItemBlock& block = body->blocks[0];
  const ItemPattern& pattern = workload->patterns[block.pattern.index()];
  // two runs of 100 x 8 bytes on one object of 800 bytes
  ASSERT_EQ(pattern.runs.size(), 2u);
  EXPECT_EQ(pattern.runs[0].kind, AccessKind::write);
  EXPECT_EQ(pattern.runs[1].kind, AccessKind::read);
  EXPECT_EQ(pattern.runs[1].sequence, 100u);
  EXPECT_EQ(pattern.runs[1].dimension[0].count, 100u);
  ASSERT_EQ(block.slots.size(), 1u);
  EXPECT_EQ(workload->objects[block.slots[0].object.index()].bytes, 800u);
  EXPECT_EQ(workload->objects[block.slots[0].object.index()].kind, ObjectKind::heap);
  ASSERT_EQ(pattern.heap_events.size(), 2u);
  EXPECT_EQ(pattern.heap_events[0].operation, HeapOperation::allocate);
  EXPECT_EQ(pattern.heap_events[0].sequence, 0u);
  EXPECT_EQ(pattern.heap_events[1].operation, HeapOperation::release);
  EXPECT_EQ(pattern.heap_events[1].sequence, 200u);
}

// A loop of 8 iterations, each reading 10 doubles of its row, shared out to a team as static does.
Messages loop_of(unsigned team) {
  Messages m;
  m.hello(team).two_sites().allocate(heap, 640).run(1, 80, heap, 0).parallel(0, team);
  for (unsigned r = 0; r < team; ++r) {
    if (r > 0) m.rank(r);
    m.loop(8);
    for (unsigned i = 8 * r / team; i < 8 * (r + 1) / team; ++i) m.item(i).run(0, 10, heap + i * 80, 0);
    m.loop_end();
  }
  return m.parallel_end(0).release(heap).end(160);
}

TEST_F(StreamProtocol, ALoopIsFreeAndCoversItsIterations) {
  const auto workload = trace(loop_of(2).bytes());
  std::size_t loops = 0;
  for (std::size_t e = 0; e < workload->executions.size(); ++e) {
    const Execution& execution = workload->executions[e];
    if (workload->regions[execution.region.index()].kind != RegionKind::loop) continue;
    ++loops;
    EXPECT_EQ(execution.binding, Binding::free);
    EXPECT_EQ(execution.iterations, 8);
    EXPECT_EQ(execution.reads, 80u);
    EXPECT_TRUE(execution.barrier_after);  // the join
    std::int64_t next = 0;
    for (const ItemBlock& block : workload->body(ExecutionId{e})->blocks) {
      EXPECT_EQ(block.first, next);
      next = block.last;
      ASSERT_EQ(block.slots.size(), 1u);
      EXPECT_EQ(block.slots[0].base, block.first * 80);  // row i begins at 80 i
    }
    EXPECT_EQ(next, 8);
  }
  EXPECT_EQ(loops, 1u);
}

TEST_F(StreamProtocol, AddressesFollowTheBlockThatIsAlive) {
  // Two blocks at one address, one after the other: two objects.
  const auto workload = trace(Messages{}
                                  .hello()
                                  .two_sites()
                                  .allocate(heap, 80)
                                  .run(1, 10, heap, 0)
                                  .release(heap)
                                  .allocate(heap, 160)
                                  .run(1, 20, heap, 10)
                                  .release(heap)
                                  .end(30)
                                  .bytes());
  const auto body = workload->body(ExecutionId{0});
  const ItemPattern& pattern = workload->patterns[body->blocks.at(0).pattern.index()];
  ASSERT_EQ(pattern.runs.size(), 2u);
  const auto bytes_of = [&](const AccessRun& run) { return workload->objects[body->blocks[0].slots[run.slot].object.index()].bytes; };
  EXPECT_EQ(bytes_of(pattern.runs[0]), 80u);
  EXPECT_EQ(bytes_of(pattern.runs[1]), 160u);
}

TEST_F(StreamProtocol, CodeIsBoundToRanksIfItAskedForItsRank) {
  for (const bool asks : {false, true}) {
    Messages m;
    m.hello(2).two_sites().allocate(heap, 80).parallel(0, 2);
    if (asks) m.opcode(HN_USER_RANK);
    m.run(1, 5, heap, 0);
    m.rank(1).run(1, 5, heap + 40, 0);
    const auto workload = trace(m.parallel_end(0).end(10).bytes());
    bool found = false;
    for (const Execution& execution : workload->executions) {
      if (workload->regions[execution.region.index()].kind != RegionKind::thread) continue;
      found = true;
      EXPECT_EQ(execution.binding, asks ? Binding::rank : Binding::replicated);
      EXPECT_EQ(execution.iterations, asks ? 2 : 1);
      EXPECT_EQ(execution.writes, asks ? 10u : 5u);
    }
    EXPECT_TRUE(found);
  }
}

TEST_F(StreamProtocol, ProducersAndMarksAreKept) {
  const auto workload = trace(Messages{}
                                  .hello()
                                  .two_sites()
                                  .allocate(heap, 800)
                                  .opcode(HN_MARK)
                                  .u(HN_MARK_OWNER)
                                  .u(3)
                                  .u(heap)
                                  .u(0)
                                  .s("")
                                  .opcode(HN_MARK)
                                  .u(HN_MARK_STREAMABLE)
                                  .u(0)
                                  .u(heap)
                                  .u(800)
                                  .s("")
                                  .run(0, 1, heap, 0, 8, 1, 0)
                                  .run(0, 1, heap + 400, 1, 8, 1, 1)
                                  .run(1, 1, heap, 2)
                                  .opcode(HN_LOSS)
                                  .u(4)
                                  .site(0x600)
                                  .s("something was not recorded")
                                  .end(3)
                                  .bytes());
  const auto body = workload->body(ExecutionId{0});
  const ItemPattern& pattern = workload->patterns[body->blocks.at(0).pattern.index()];
  ASSERT_EQ(pattern.runs.size(), 3u);
  EXPECT_EQ(pattern.runs[0].producer_distance, 0u);
  EXPECT_EQ(pattern.runs[1].producer_distance, 1u);
  EXPECT_FALSE(pattern.runs[1].streamable);  // a load is not
  EXPECT_TRUE(pattern.runs[2].streamable);
  EXPECT_EQ(workload->objects[body->blocks[0].slots[0].object.index()].owner_hint, 3);
  ASSERT_EQ(workload->losses.size(), 1u);
  EXPECT_EQ(workload->losses[0].count, 4u);
  EXPECT_EQ(workload->losses[0].reason, "something was not recorded");
}

TEST_F(StreamProtocol, AStreamThatBreaksTheProtocolIsRefused) {
  EXPECT_THAT(refusal(Messages{}.hello().opcode(200).bytes()), HasSubstr("unknown kind 200"));
  EXPECT_THAT(refusal(Messages{}.hello().two_sites().opcode(HN_PC).u(7).u(0).u(8).u(0).site(1).bytes()), HasSubstr("site 7 out of order"));
  EXPECT_THAT(refusal(Messages{}.hello().opcode(HN_RUN).u(0).bytes()), HasSubstr("unknown site 0"));
  EXPECT_THAT(refusal(Messages{}.hello().opcode(HN_COLUMN).u(5).u(1).bytes()), HasSubstr("unknown site 5"));
  EXPECT_THAT(refusal(Messages{}.hello(2).parallel(0, 2).rank(2).bytes()), HasSubstr("rank 2 in a team of 2"));
  EXPECT_THAT(refusal(Messages{}.opcode(HN_HELLO).u(99).bytes()), HasSubstr("version 99"));
  EXPECT_THAT(refusal(Messages{}.opcode(HN_HELLO).bytes() + std::string(11, '\xff')), HasSubstr("more than 64 bits"));
  EXPECT_FALSE(fs::exists(folder_ / "x.hnt"));  // only the part that a recovery may start from
}

TEST_F(StreamProtocol, AStreamCutAnywhereKeepsWhatArrived) {
  const std::string whole = loop_of(2).bytes();
  const AssembleResult all = assembled(whole);
  EXPECT_TRUE(all.complete);
  EXPECT_EQ(all.accesses, 160u);
  std::uint64_t before = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const AssembleResult part = assembled(whole.substr(0, size));
    ASSERT_FALSE(part.complete) << "cut to " << size << " bytes";
    ASSERT_GE(part.accesses, before);
    before = part.accesses;
    const auto kept = open_trace(folder_ / "x.hnt");
    ASSERT_FALSE(kept->complete);
    std::uint64_t accesses = 0;
    for (const Execution& execution : kept->executions) accesses += execution.accesses;
    ASSERT_LE(accesses, part.accesses);
  }
  // all that arrived before the last message
  EXPECT_EQ(before, 160u);
}

TEST_F(StreamProtocol, TheSameStreamGivesTheSameHash) {
  EXPECT_EQ(assembled(loop_of(1).bytes()).content_hash, assembled(loop_of(1).bytes()).content_hash);
  EXPECT_NE(assembled(loop_of(1).bytes()).content_hash, assembled(Messages{}.hello().end(0).bytes()).content_hash);
}

}  // namespace
}  // namespace homenode
