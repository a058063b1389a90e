#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "sim/base/errors.hpp"
#include "tests/support/workloads.hpp"
#include "traces/format/content_hash.hpp"
#include "traces/format/frame.hpp"
#include "traces/format/trace_file.hpp"
#include "traces/format/trace_writer.hpp"

namespace homenode {
namespace {

class TraceTest : public ::testing::Test {
protected:
  TraceTest() {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = std::filesystem::temp_directory_path() / ("homenode-" + name + "-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  ~TraceTest() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path path(const std::string& name = "trace.hnt") const { return folder_ / name; }
  static std::string bytes(const std::filesystem::path& file) {
    std::ifstream in{file, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  static void put(const std::filesystem::path& file, const std::string& content) { std::ofstream{file, std::ios::binary} << content; }
  static std::string error_of(const std::filesystem::path& file) {
    try {
      open_trace(file);
    } catch (const InputError& error) { return error.what(); }
    return "no error";
  }
  std::filesystem::path folder_;
};

void expect_equal(const ExecutionBody& a, const ExecutionBody& b, const Workload& of_a, const Workload& of_b) {
  ASSERT_EQ(a.blocks.size(), b.blocks.size());
  for (std::size_t i = 0; i < a.blocks.size(); ++i) {
    EXPECT_EQ(a.blocks[i].first, b.blocks[i].first);
    EXPECT_EQ(a.blocks[i].last, b.blocks[i].last);
    ASSERT_EQ(a.blocks[i].slots.size(), b.blocks[i].slots.size());
    for (std::size_t s = 0; s < a.blocks[i].slots.size(); ++s) {
      EXPECT_EQ(a.blocks[i].slots[s].object, b.blocks[i].slots[s].object);
      EXPECT_EQ(a.blocks[i].slots[s].base, b.blocks[i].slots[s].base);
      EXPECT_EQ(a.blocks[i].slots[s].shift, b.blocks[i].slots[s].shift);
    }
    const ItemPattern &p = of_a.patterns[a.blocks[i].pattern.index()], &q = of_b.patterns[b.blocks[i].pattern.index()];
    EXPECT_EQ(p.accesses, q.accesses);
    EXPECT_EQ(format::canonical(p).shape, format::canonical(q).shape);
  }
}

TEST_F(TraceTest, EveryWorkloadComesBackAsItWasWritten) {
  for (const auto& workload : {test::jacobi2d(20, 3), test::jacobi3d(12, 12, 12, 4, 4, 4, 2), test::chase(50, 200, 4),
                               test::gather(64, 32, 4), test::stream_triad(100, 10, 2, true)}) {
    const std::string hash = write_trace(path(), *workload);
    const auto back = open_trace(path());
    EXPECT_EQ(back->content_hash, hash);
    EXPECT_EQ(content_hash(*workload), hash);
    EXPECT_EQ(content_hash(*back), hash);
    ASSERT_EQ(back->executions.size(), workload->executions.size());
    for (std::size_t e = back->executions.size(); e-- > 0;) {  // random access: backwards
      EXPECT_EQ(back->executions[e].accesses, workload->executions[e].accesses);
      EXPECT_EQ(back->executions[e].ordinal, workload->executions[e].ordinal);
      expect_equal(*back->body(ExecutionId{e}), *workload->body(ExecutionId{e}), *back, *workload);
    }
  }
}

TEST_F(TraceTest, WhatIsSaidOfTheProgramComesBack) {
  const auto workload = test::jacobi2d(20, 1);
  workload->compiler = "gcc-12";
  workload->program = "jacobi";
  workload->arguments = "20 1";
  workload->page_size = 65536;
  workload->lacks = {"dependence", "frames"};
  for (const bool complete : {true, false}) {
    workload->complete = complete;
    write_trace(path(), *workload);
    const auto back = open_trace(path());
    EXPECT_EQ(back->compiler, "gcc-12");
    EXPECT_EQ(back->program, "jacobi");
    EXPECT_EQ(back->arguments, "20 1");
    EXPECT_EQ(back->page_size, 65536u);
    EXPECT_EQ(back->lacks, (std::vector<std::string>{"dependence", "frames"}));
    EXPECT_EQ(back->complete, complete);
  }
}

TEST_F(TraceTest, WhatWasReadIsWrittenAgainByteForByte) {
  for (const auto& workload : {test::jacobi2d(20, 3), test::jacobi3d(12, 12, 12, 4, 4, 4, 2), test::chase(50, 200, 4),
                               test::gather(64, 32, 4), test::stream_triad(100, 10, 2, true)}) {
    const std::string hash = write_trace(path(), *workload);
    EXPECT_EQ(write_trace(path("again.hnt"), *open_trace(path())), hash);
    EXPECT_EQ(bytes(path("again.hnt")), bytes(path()));
  }
}

TEST_F(TraceTest, BodiesReadFromSeveralThreadsAreEqual) {
  // More executions than are kept in memory, so that threads read, replace and share bodies at once.
  constexpr unsigned readers = 4, rounds = 3;
  const auto workload = test::jacobi2d(40, 30);
  write_trace(path(), *workload);
  const auto file = open_trace(path());
  const std::size_t executions = file->executions.size();
  std::vector<std::vector<std::shared_ptr<const ExecutionBody>>> bodies(readers);
  {
    std::vector<std::jthread> threads;
    for (unsigned reader = 0; reader < readers; ++reader) {
      threads.emplace_back([&, reader] {
        for (unsigned round = 0; round < rounds; ++round)
          for (std::size_t e = 0; e < executions; ++e)  // each thread begins elsewhere
            bodies[reader].push_back(file->body(ExecutionId{(e + reader * executions / readers) % executions}));
      });
    }
  }
  for (unsigned reader = 0; reader < readers; ++reader) {
    ASSERT_EQ(bodies[reader].size(), rounds * executions);
    for (std::size_t i = 0; i < bodies[reader].size(); ++i) {
      const ExecutionId execution{(i + reader * executions / readers) % executions};
      expect_equal(*bodies[reader][i], *workload->body(execution), *file, *workload);
    }
  }
}

// More executions than bodies are kept of loops: each has a few slots, so all stay (small_body in trace_file.hpp).
TEST_F(TraceTest, SmallBodiesAreDecodedOnce) {
  write_trace(path(), *test::jacobi2d(20, 12));
  const auto trace = open_trace(path());
  ASSERT_GT(trace->executions.size(), 10U);
  const auto first = trace->body(ExecutionId{0});
  for (std::size_t e = 1; e < trace->executions.size(); ++e) trace->body(ExecutionId{e});
  EXPECT_EQ(trace->body(ExecutionId{0}), first);
}

TEST_F(TraceTest, TheHashDoesNotDependOnHowBlocksAreCut) {
  const auto cut = [](std::vector<std::int64_t> at) {
    WorkloadBuilder builder;
    const ObjectId a = builder.object("a", 800);
    const RegionId loop = builder.loop("loop", 10);
    for (std::int64_t first = 0; const std::int64_t last : at) {
      builder.nest(loop, {10}, {read(a, first * 80, {8}, 80)});
      builder.next_block(loop, last);
      first = last;
    }
    builder.repeat(loop);
    return content_hash(*builder.build());
  };
  EXPECT_EQ(cut({10}), cut({1, 10}));
  EXPECT_EQ(cut({10}), cut({3, 4, 9, 10}));
}

TEST_F(TraceTest, TheHashSeesEveryChangeOfTheAccesses) {
  EXPECT_NE(content_hash(*test::jacobi2d(20, 2)), content_hash(*test::jacobi2d(20, 3)));
  EXPECT_NE(content_hash(*test::jacobi2d(20, 2)), content_hash(*test::jacobi2d(21, 2)));
  EXPECT_NE(content_hash(*test::stream_triad(100, 10, 2, true)), content_hash(*test::stream_triad(100, 10, 2, false)));
}

TEST_F(TraceTest, EachFlippedByteIsRefused) {
  write_trace(path(), *test::jacobi2d(12, 1));
  const std::string good = bytes(path());
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    put(path("bad.hnt"), bad);
    const std::string error = error_of(path("bad.hnt"));
    EXPECT_NE(error.find("bad.hnt: "), std::string::npos) << "byte " << i << ": " << error;
    EXPECT_NE(error.find("offset "), std::string::npos) << "byte " << i << ": " << error;
  }
}

TEST_F(TraceTest, ATrailerThatPointsElsewhereIsRefused) {
  {
    format::FrameWriter frames{path()};
    format::ByteWriter meta, footer;
    format::MetaCodec::append(meta, {}, {});
    const std::uint64_t first = frames.write(RecordType::meta, meta.bytes());
    format::FooterCodec::append(footer, {}, {});
    frames.write(RecordType::footer, footer.bytes());
    frames.finish(first);
  }
  EXPECT_NE(error_of(path()).find("damaged: the trailer does not point to the last frame"), std::string::npos) << error_of(path());
}

TEST_F(TraceTest, EachTruncationIsRefused) {
  write_trace(path(), *test::jacobi2d(12, 1));
  const std::string good = bytes(path());
  for (std::size_t size = 0; size < good.size(); ++size) {
    put(path("short.hnt"), good.substr(0, size));
    EXPECT_NE(error_of(path("short.hnt")).find("offset "), std::string::npos) << size;
  }
  put(path("short.hnt"), "");
  EXPECT_NE(error_of(path("short.hnt")).find("the file is empty"), std::string::npos);
}

TEST_F(TraceTest, ForeignAndFutureFilesAreRefusedByName) {
  put(path(), "this is not a trace, but it is long enough to be one");
  EXPECT_NE(error_of(path()).find("not a homenode trace"), std::string::npos);
  write_trace(path(), *test::jacobi2d(8, 1));
  std::string future = bytes(path());
  future[8] = 7;
  put(path(), future);
  EXPECT_NE(error_of(path()).find("format version 7 is from the future; versions up to 1 are allowed"), std::string::npos);
  EXPECT_NE(error_of(path("absent.hnt")).find("cannot be opened"), std::string::npos);
}

TEST_F(TraceTest, UnknownRecordsAreSkippedOrRefusedByName) {
  const auto file_with = [&](std::uint16_t type, bool critical) {
    format::FrameWriter frames{path()};
    format::ByteWriter meta, footer;
    format::StoredMeta stored{{}, std::vector<std::string>(40)};
    stored.record_names.back() = "PREFETCH";
    format::MetaCodec::append(meta, stored, {});
    frames.write(RecordType::meta, meta.bytes());
    frames.write(type, {}, critical);
    format::FooterCodec::append(footer, {}, {});
    frames.finish(frames.write(RecordType::footer, footer.bytes()));
  };
  file_with(40, true);
  EXPECT_NE(error_of(path()).find("unknown critical record 'PREFETCH' (type 40)"), std::string::npos) << error_of(path());
  file_with(40, false);
  EXPECT_EQ(error_of(path()), "no error");
}

TEST_F(TraceTest, AKilledCaptureKeepsItsWholeFrames) {
  const auto workload = test::gather(20000, 512, 10000);  // each block of iterations is its own: more than one frame
  write_trace(path(), *workload);
  const std::string good = bytes(path());
  std::int64_t longest = 0;
  for (std::size_t size = 16; size < good.size(); size += good.size() / 13) {
    put(path("killed.part"), good.substr(0, size));
    recover(path("killed.part"), path("kept.hnt"));
    const auto kept = open_trace(path("kept.hnt"));
    EXPECT_FALSE(kept->complete);
    for (std::size_t e = 0; e < kept->executions.size(); ++e) {
      const auto body = kept->body(ExecutionId{e});
      if (!body->blocks.empty()) longest = std::max(longest, body->blocks.back().last);
    }
  }
  EXPECT_GT(longest, 0);
}

TEST_F(TraceTest, UnfinishedTracesDoNotTakeTheTargetsName) {
  { TraceWriter writer{path()}; }
  EXPECT_FALSE(std::filesystem::exists(path()));
  EXPECT_TRUE(std::filesystem::exists(path("trace.hnt.part")));
}

}  // namespace
}  // namespace homenode
