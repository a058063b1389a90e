#include "traces/capture/assembler/assembler.hpp"

#include <gtest/gtest.h>

#include <random>

#include "sim/base/errors.hpp"
#include "tests/support/assembler_fixture.hpp"
#include "tests/support/jacobi_stream.hpp"
#include "traces/format/trace_file.hpp"

namespace homenode {
namespace {

using namespace test::jacobi_stream;
using test::StreamWriter;

class Assembler : public test::AssemblerFixture {};

struct Decoded {
  std::uint32_t object;
  std::int64_t offset;
  unsigned width;
  AccessKind kind;
  bool operator==(const Decoded&) const = default;
};

// The accesses of one iteration in the order of their sequence numbers; each number is used once.
std::vector<Decoded> decode(const Workload& workload, const ExecutionBody& body, std::int64_t iteration) {
  const ItemBlock* block = nullptr;
  for (const ItemBlock& candidate : body.blocks) {
    if (candidate.first <= iteration && iteration < candidate.last) block = &candidate;
  }
  if (block == nullptr) return {};
  const ItemPattern& pattern = workload.patterns[block->pattern.index()];
  std::vector<Decoded> accesses(pattern.accesses, Decoded{~0u, 0, 0, AccessKind::read});
  const auto put = [&](std::uint64_t sequence, SlotNumber slot, std::int64_t offset, unsigned width, AccessKind kind) {
    ASSERT_LT(sequence, accesses.size());
    ASSERT_EQ(accesses[sequence].object, ~0u) << "two accesses have sequence number " << sequence;
    const SlotBinding& binding = block->slots[slot];
    accesses[sequence] = {binding.object.value(), binding.base + (iteration - block->first) * binding.shift + offset, width, kind};
  };
  for (const AccessRun& run : pattern.runs) {
    for (std::uint64_t i = 0; i < run.accesses(); ++i) {
      std::uint64_t rest = i, sequence = run.sequence;
      std::int64_t offset = run.offset;
      for (unsigned d = 0; d < run.dimensions; ++d) {
        const std::uint64_t index = rest % run.dimension[d].count;
        rest /= run.dimension[d].count;
        offset += static_cast<std::int64_t>(index) * run.dimension[d].stride;
        sequence += index * run.dimension[d].sequence_stride;
      }
      put(sequence, run.slot, offset, run.width, run.kind);
    }
  }
  for (const IrregularStream& stream : pattern.streams) {
    for (std::size_t i = 0; i < stream.offset.size(); ++i)
      put(stream.sequence[i], stream.slot[i], stream.offset[i], stream.width, stream.kind);
  }
  return accesses;
}

TEST_F(Assembler, AStencilIsOneBlockAndOneRunAReference) {
  StreamWriter stream;
  stream.hello();
  for (std::uint64_t p = 0; p < 6; ++p) stream.pc(p, p == 5 ? HN_WRITE : HN_READ, 8);
  const std::int64_t n = 300;
  stream.allocate(a_address, static_cast<std::uint64_t>(n * n * 8));
  stream.allocate(b_address, static_cast<std::uint64_t>(n * n * 8));
  for (std::uint64_t sweep = 0; sweep < 4; ++sweep) {
    jacobi(stream, n, sweep, sweep % 2 == 0 ? a_address : b_address, sweep % 2 == 0 ? b_address : a_address);
  }
  stream.end();
  const auto workload = assembled(stream);
  EXPECT_TRUE(workload->complete);
  // accesses = sweeps * 6 (n - 2)^2, of which one in six is a write
  std::uint64_t accesses = 0, writes = 0;
  for (const Execution& execution : workload->executions) accesses += execution.accesses, writes += execution.writes;
  EXPECT_EQ(accesses, 4u * 6 * 298 * 298);
  EXPECT_EQ(writes, 4u * 298 * 298);
  EXPECT_EQ(result_.accesses, accesses);
  for (std::size_t e = 0; e < workload->executions.size(); ++e) {
    if (workload->regions[workload->executions[e].region.index()].kind != RegionKind::loop) continue;
    const auto body = workload->body(ExecutionId{e});
    ASSERT_EQ(body->blocks.size(), 1u);
    EXPECT_EQ(workload->patterns[body->blocks[0].pattern.index()].runs.size(), 6u);
    EXPECT_EQ(body->blocks[0].slots.size(), 2u);
    EXPECT_EQ(body->blocks[0].slots[0].shift, n * 8);
  }
  // bytes an access: at most 0.001 of the reference work's 50 M accesses; here the tables weigh most
  EXPECT_LT(std::filesystem::file_size(folder_ / "trace.hnt"), 5000u);
}

// For any program: the trace, unfolded in the order of its sequence numbers, is the list of accesses that was made.
TEST_F(Assembler, UnfoldingGivesTheExactOrderBack) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random{seed};
    const auto below = [&](std::uint32_t limit) { return static_cast<std::uint64_t>(random() % limit); };
    StreamWriter stream;
    if (seed % 2 == 1) stream.short_messages();
    stream.hello();
    constexpr std::uint64_t sites = 5, object_bytes = 1 << 20;
    for (std::uint64_t p = 0; p < sites; ++p) stream.pc(p, static_cast<int>(p % 3 == 2 ? HN_WRITE : HN_READ), p % 2 == 0 ? 8 : 4);
    // Three blocks side by side, so that runs may cross from one to the next.
    for (std::uint64_t o = 0; o < 3; ++o) stream.allocate(a_address + o * object_bytes, object_bytes);
    const std::int64_t iterations = 1 + static_cast<std::int64_t>(below(40));
    const bool regular = below(2) == 0;
    std::vector<std::vector<StreamWriter::Access>> expected;
    stream.parallel_begin(0);
    stream.loop_begin(0x3000, iterations);
    struct Nest {
      std::uint64_t first, outer, inner, outer_stride, inner_stride, sites;
      bool random_reads;
    };
    std::vector<Nest> nests;
    const auto draw = [&] {
      nests.clear();
      for (std::uint64_t k = 0; k <= below(3); ++k) {
        nests.push_back({object_bytes / 2 / 8 * 8 + below(2) * object_bytes, 1 + below(6), 1 + below(12), below(2000) * 8, below(4) * 8,
                         1 + below(sites), below(4) == 0});
      }
    };
    draw();
    for (std::int64_t i = 0; i < iterations; ++i) {
      if (!regular && below(5) == 0) draw();
      std::vector<StreamWriter::Access> accesses;
      for (const Nest& nest : nests) {
        for (std::uint64_t o = 0; o < nest.outer; ++o) {
          for (std::uint64_t k = 0; k < nest.inner; ++k) {
            for (std::uint64_t s = 0; s < nest.sites; ++s) {
              const bool jumps = nest.random_reads && s == 1;
              const std::uint64_t offset =
                  jumps ? below(object_bytes / 8) * 8
                        : nest.first + static_cast<std::uint64_t>(i) * 256 + o * nest.outer_stride + k * nest.inner_stride + s * 64;
              accesses.push_back({s, a_address + offset});
            }
          }
        }
      }
      stream.item(i);
      stream.accesses(accesses);
      expected.push_back(std::move(accesses));
    }
    stream.loop_end();
    stream.barrier();
    stream.parallel_end(0);
    stream.end();
    const auto workload = assembled(stream);
    std::map<std::uint64_t, std::uint32_t> object_at;  // heap blocks are numbered as they were allocated
    std::uint64_t next_address = a_address;
    for (std::uint32_t o = 0; o < workload->objects.size(); ++o) {
      if (workload->objects[o].kind != ObjectKind::heap) continue;
      object_at[next_address] = o;
      next_address += object_bytes;
    }
    std::size_t loops = 0;
    for (std::size_t e = 0; e < workload->executions.size(); ++e) {
      if (workload->regions[workload->executions[e].region.index()].kind != RegionKind::loop) continue;
      ++loops;
      const auto body = workload->body(ExecutionId{e});
      ASSERT_EQ(workload->executions[e].iterations, iterations);
      for (std::int64_t i = 0; i < iterations; ++i) {
        std::vector<Decoded> wanted;
        for (const StreamWriter::Access& access : expected[static_cast<std::size_t>(i)]) {
          const auto object = std::prev(object_at.upper_bound(access.address));
          wanted.push_back({object->second, static_cast<std::int64_t>(access.address - object->first), access.pc % 2 == 0 ? 8u : 4u,
                            access.pc % 3 == 2 ? AccessKind::write : AccessKind::read});
        }
        ASSERT_EQ(decode(*workload, *body, i), wanted) << "seed " << seed << ", iteration " << i;
      }
    }
    EXPECT_EQ(loops, 1u);
  }
}

// The form in which accesses are sent is no part of the trace: nests, pairs that repeat and pairs by chance, with one object after
// another between them, have one content hash.
TEST_F(Assembler, ShortMessagesMakeTheSameTrace) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::string hash;
    for (const bool short_messages : {false, true}) {
      std::mt19937 random{seed};
      const auto below = [&](std::uint32_t limit) { return static_cast<std::uint64_t>(random() % limit); };
      StreamWriter stream;
      if (short_messages) stream.short_messages();
      stream.hello();
      for (std::uint64_t p = 0; p < 3; ++p) stream.pc(p, p == 2 ? HN_WRITE : HN_READ, 8);
      constexpr std::uint64_t objects = 40, bytes = 512;
      for (std::uint64_t o = 0; o < objects; ++o) stream.allocate(a_address + o * bytes, bytes);
      std::vector<StreamWriter::Access> accesses;
      while (accesses.size() < 3000) {
        const std::uint64_t length = 1 + below(4), step = below(3) * 8, first = below(objects) * bytes + below(24) * 8;
        for (std::uint64_t again = 0; again <= below(3); ++again) {
          for (std::uint64_t k = 0; k < length; ++k) accesses.push_back({below(6) / 2 % 3, a_address + first + again * 64 + k * step});
        }
      }
      stream.accesses(accesses);
      stream.end();
      const auto workload = assembled(stream);
      EXPECT_EQ(result_.accesses, accesses.size());
      if (short_messages) { EXPECT_EQ(workload->content_hash, hash) << "seed " << seed; }
      hash = workload->content_hash;
      const auto body = workload->body(ExecutionId{0});
      const std::vector<Decoded> decoded = decode(*workload, *body, 0);
      ASSERT_EQ(decoded.size(), accesses.size());
      for (std::size_t i = 0; i < accesses.size(); ++i) {
        const std::uint64_t offset = accesses[i].address - a_address;
        ASSERT_EQ(decoded[i].offset, static_cast<std::int64_t>(offset % bytes)) << "seed " << seed << ", access " << i;
      }
    }
  }
}

// A block that is freed takes what is known of its addresses with it: the next block there is another object.
TEST_F(Assembler, AnAddressBelongsToTheBlockThatIsThereNow) {
  StreamWriter stream;
  stream.hello();
  stream.pc(0, HN_READ, 8);
  constexpr std::uint64_t blocks = 50;
  std::uint64_t sequence = 0;
  for (std::uint64_t i = 0; i < blocks; ++i) {
    for (const std::uint64_t address : {a_address, b_address}) {
      stream.allocate(address, address == a_address ? 64 : 64 << 10);
      stream.run(0, address + 8, sequence++, 1, 0, 0);
      stream.run(0, address + 40, sequence++, 1, 0, 0);
      stream.release(address);
    }
  }
  stream.end();
  const auto workload = assembled(stream);
  const auto body = workload->body(ExecutionId{0});
  const std::vector<Decoded> decoded = decode(*workload, *body, 0);
  // Two accesses of each of the blocks, which are numbered as they were allocated.
  ASSERT_EQ(decoded.size(), 4 * blocks);
  for (std::size_t i = 2; i < decoded.size(); i += 2) {
    EXPECT_EQ(decoded[i].object, decoded[i - 2].object + 1);
    EXPECT_EQ(decoded[i].object, decoded[i + 1].object);
  }
}

TEST_F(Assembler, ManyIrregularAccessesOfOneIterationAreColumns) {
  StreamWriter stream;
  stream.hello();
  stream.pc(0, HN_READ, 8);
  stream.allocate(a_address, 8 << 20);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> column;
  std::mt19937 random{7};
  for (std::uint64_t i = 0; i < 200'000; ++i) column.emplace_back(a_address + random() % (1 << 20) * 8, i);
  stream.column(0, column, 4);
  stream.end();
  const auto workload = assembled(stream);
  std::uint64_t accesses = 0;
  for (std::size_t e = 0; e < workload->executions.size(); ++e) accesses += workload->executions[e].accesses;
  EXPECT_EQ(accesses, 200'000u);
  const auto body = workload->body(ExecutionId{workload->executions.size() - 1});
  const std::vector<Decoded> decoded = decode(*workload, *body, 0);
  ASSERT_EQ(decoded.size(), column.size());
  for (std::size_t i = 0; i < column.size(); ++i) ASSERT_EQ(decoded[i].offset, static_cast<std::int64_t>(column[i].first - a_address)) << i;
}

TEST_F(Assembler, OneIterationMayUseMoreObjectsThan16BitsCount) {
  // Programs that build a tree or a list in serial code allocate one object a node: n objects, n writes by one site and n reads by
  // another, in an order without a stride. Access k of the item is at object (k * 7919) mod n: 7919 is prime and no divisor of n.
  constexpr std::uint64_t nodes = 70000, first = 0x10000, distance = 64;
  StreamWriter stream;
  stream.hello();
  stream.pc(0, HN_WRITE, 8);
  stream.pc(1, HN_READ, 8);
  for (std::uint64_t k = 0; k < nodes; ++k) stream.allocate(first + k * distance, 32);
  std::vector<StreamWriter::Access> list;
  for (std::uint64_t pass = 0; pass < 2; ++pass) {
    for (std::uint64_t k = 0; k < nodes; ++k) list.push_back({pass, first + k * 7919 % nodes * distance});
  }
  stream.accesses(list);
  stream.end();
  const auto workload = assembled(stream);
  ASSERT_EQ(workload->executions.size(), 1u);
  EXPECT_EQ(workload->executions[0].accesses, 2 * nodes);
  const std::vector<Decoded> decoded = decode(*workload, *workload->body(ExecutionId{0}), 0);
  ASSERT_EQ(decoded.size(), 2 * nodes);
  for (std::uint64_t k = 0; k < 2 * nodes; ++k) {
    const Decoded wanted{static_cast<std::uint32_t>(k % nodes * 7919 % nodes), 0, 8, k < nodes ? AccessKind::write : AccessKind::read};
    ASSERT_EQ(decoded[k], wanted) << "access " << k;
  }
}

TEST_F(Assembler, StoresInAMarkedRangeAreStreamable) {
  StreamWriter stream;
  stream.hello();
  stream.pc(0, HN_WRITE, 8);
  stream.pc(1, HN_READ, 8);
  stream.allocate(a_address, 800);
  stream.streamable(a_address, 800);
  stream.parallel_begin(0);
  stream.loop_begin(0x3000, 1);
  stream.item(0);
  stream.run(0, a_address, 0, 100, 8, 2);
  stream.run(1, a_address, 1, 100, 8, 2);
  stream.loop_end();
  stream.parallel_end(0);
  stream.end();
  const auto workload = assembled(stream);
  bool seen = false;
  for (const ItemPattern& pattern : workload->patterns) {
    for (const AccessRun& run : pattern.runs) {
      EXPECT_EQ(run.streamable, run.kind == AccessKind::write);
      seen = true;
    }
  }
  EXPECT_TRUE(seen);
}

TEST_F(Assembler, TheSameProgramElsewhereInMemoryHasTheSameHash) {
  const auto hash_at = [&](std::uint64_t a, std::uint64_t b, bool swapped = false) {
    StreamWriter stream;
    begin_grids(stream, a, b);
    jacobi(stream, 50, 0, swapped ? b : a, swapped ? a : b);
    stream.end();
    return assembled(stream)->content_hash;
  };
  EXPECT_EQ(hash_at(0x10000, 0x40000000), hash_at(0x7770000, 0x5550000));
  // The other array as the source is another program.
  EXPECT_NE(hash_at(0x10000, 0x40000000), hash_at(0x10000, 0x40000000, true));
}

TEST_F(Assembler, AForeignStreamIsRefused) {
  StreamWriter stream;
  stream.opcode(HN_HELLO);
  stream.u(99), stream.u(4096), stream.u(1), stream.u(0), stream.u(0);
  EXPECT_THROW(assembled(stream), InputError);
  StreamWriter unknown;
  unknown.hello();
  unknown.opcode(120);
  EXPECT_THROW(assembled(unknown), InputError);
}

}  // namespace
}  // namespace homenode
