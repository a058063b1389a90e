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

// Fields that a workload in memory has no place for.
TEST_F(TraceTest, EveryFieldOfTheSchemaIsKept) {
  {
    TraceWriter writer{path()};
    TraceMeta meta{"homenode 1", "gcc-12", "-O2", "prog", "a b", 8, 65536, {"dependence", "work"}, true};
    writer.meta(meta);
    const SiteId site = writer.add(Site{0x40, "a.c", 7, "f"}, {});
    writer.add(Site{0x44, "b.h", 9, "g"}, {site});
    const ThreadId thread = writer.add(TracedThread{ThreadId::none(), "main", 0}, {1, 2});
    Region region{RegionKind::task, "label", site, {{0, 10, 2}, {5, -5, -1}}, true, true, true, "static,1"};
    const RegionId id = writer.add(region);
    TracedObject object{ObjectKind::mapped, true, 640, 64, site, "m", ObjectId::none(), 3};
    const ObjectId first = writer.add(object);
    object.reallocated_from = first;
    const ObjectId second = writer.add(object);
    ItemPattern pattern;
    pattern.slots = 1;
    pattern.accesses = 6;
    pattern.reads = 6;
    pattern.writes = 6;
    AccessRun run;
    run.width = 16;
    run.kind = AccessKind::atomic;
    run.streamable = run.bulk = true;
    run.dimensions = 2;
    run.producer_distance = 5;
    run.site = site;
    run.offset = -8;
    run.sequence = 3;
    run.dimension[0] = {2, -16, 1};
    run.dimension[1] = {3, 32, 7};
    pattern.runs = {run};
    pattern.heap_events = {{2, HeapOperation::reallocate, 0, true}};
    pattern.sync_events = {{4, SyncOperation::ordered_enter, 77, 88}};
    Segment segment;
    segment.ordinal = 1;
    segment.work = {9, 8, 7, 6, 5, 4, 3, 2, 1};
    segment.cost_class = "fp";
    const PatternId pattern_id = writer.add(id, pattern, {segment});
    const ExecutionId later = writer.open_execution(id, 20), earlier = writer.open_execution(id, 10);
    writer.append(later, {0, 2, pattern_id, {{second, 100, 16}}});
    writer.append(earlier, {0, 1, pattern_id, {{first, 100, 0}}});
    writer.origin(later, {0, {earlier, 0}, thread, 99, true});
    writer.close_execution(earlier, {id, 0, 1, Binding::rank, 1, 4, false, -1});
    writer.close_execution(later, {id, 0, 2, Binding::free, 2, 5, true, 3}, {{earlier, 0}});
    writer.add(Loss{site, "why", 12});
    writer.add(Edge{{earlier, 0}, {later, 1}, EdgeKind::join});
    writer.add(Mark{{later, 1}, 5, MarkOperation::owner, -2, second, "text"});
    writer.add(Calibration{id, "fp", 100, 2e9, "host", true});
    writer.finish(true);
  }
  const TraceFile file{path()};
  EXPECT_EQ(file.meta.tool, "homenode 1");
  EXPECT_EQ(file.meta.compiler_flags, "-O2");
  EXPECT_EQ(file.meta.capture_threads, 8u);
  EXPECT_EQ(file.page_size, 65536u);
  EXPECT_EQ(file.meta.features, (std::vector<std::string>{"dependence", "work"}));
  EXPECT_TRUE(file.complete);
  EXPECT_EQ(file.sites[1].file, "b.h");
  EXPECT_EQ(file.sites[1].line, 9u);
  EXPECT_EQ(file.sites[0].pc, 0x40u);
  EXPECT_EQ(file.site_extras[1].inline_parent, SiteId{0});
  EXPECT_EQ(file.thread_extras[0].join_event, 2u);
  EXPECT_EQ(file.regions[0].dimensions[1].high, -5);
  EXPECT_TRUE(file.regions[0].nowait && file.regions[0].ordered && file.regions[0].reduction);
  EXPECT_EQ(file.regions[0].schedule_clause, "static,1");
  EXPECT_EQ(file.objects[1].reallocated_from, ObjectId{0});
  EXPECT_EQ(file.objects[1].owner_hint, 3);
  EXPECT_TRUE(file.objects[0].thread_private);
  const AccessRun& run = file.patterns[0].runs[0];
  EXPECT_EQ(run.dimension[1].stride, 32);
  EXPECT_EQ(run.dimension[1].sequence_stride, 7u);
  EXPECT_EQ(run.dimension[0].count, 2u);
  EXPECT_EQ(run.offset, -8);
  EXPECT_EQ(run.sequence, 3u);
  EXPECT_EQ(run.producer_distance, 5u);
  EXPECT_TRUE(run.streamable && run.bulk);
  EXPECT_EQ(run.kind, AccessKind::atomic);
  EXPECT_TRUE(file.patterns[0].heap_events[0].zeroed);
  EXPECT_EQ(file.patterns[0].heap_events[0].operation, HeapOperation::reallocate);
  EXPECT_EQ(file.patterns[0].sync_events[0].match, 88u);
  EXPECT_EQ(file.patterns[0].work.branch, 1);
  EXPECT_EQ(file.patterns[0].work.instructions, 9);
  EXPECT_EQ(file.segments[0][0].cost_class, "fp");
  ASSERT_EQ(file.executions.size(), 2u);
  EXPECT_EQ(file.executions[0].binding, Binding::rank);  // order 10 comes first
  EXPECT_EQ(file.executions[0].ordinal, 0u);
  EXPECT_EQ(file.executions[1].ordinal, 1u);
  EXPECT_EQ(file.executions[1].step, 3);
  EXPECT_EQ(file.executions[1].parallel, 5u);
  EXPECT_TRUE(file.executions[1].barrier_after);
  EXPECT_EQ(file.executions[1].accesses, 12u);
  EXPECT_EQ(file.execution_extras[1].parent, (ItemReference{ExecutionId{0}, 0}));
  const auto origins = file.origins(ExecutionId{1});
  ASSERT_EQ(origins.size(), 1u);
  EXPECT_EQ(origins[0].parent, (ItemReference{ExecutionId{0}, 0}));
  EXPECT_EQ(origins[0].first_sequence, 99u);
  EXPECT_TRUE(origins[0].thread_body);
  EXPECT_EQ(file.losses[0].count, 12u);
  EXPECT_EQ(file.edges[0].kind, EdgeKind::join);
  EXPECT_EQ(file.edges[0].successor, (ItemReference{ExecutionId{1}, 1}));
  EXPECT_EQ(file.marks[0].value, -2);
  EXPECT_EQ(file.marks[0].object, ObjectId{1});
  EXPECT_EQ(file.calibrations[0].clock_hertz, 2e9);
  EXPECT_EQ(file.body(ExecutionId{1})->blocks[0].slots[0].base, 100);
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
    format::ByteWriter fields, out;
    for (int i = 0; i < 5; ++i) fields.text("");
    fields.unsigned_value(1);
    fields.unsigned_value(4096);
    fields.unsigned_value(0);
    fields.byte(1);
    fields.unsigned_value(40);
    for (int i = 1; i <= 40; ++i) fields.text(i == 40 ? "PREFETCH" : "");
    out.record(RecordType::meta, fields);
    frames.write(RecordType::meta, out.bytes());
    frames.write(type, {}, critical);
    format::ByteWriter footer_fields, footer;
    footer_fields.byte(1);
    for (int i = 0; i < 6; ++i) footer_fields.unsigned_value(0);
    footer_fields.text("");
    footer.record(RecordType::footer, footer_fields);
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
