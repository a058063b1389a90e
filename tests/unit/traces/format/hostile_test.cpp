// What no writer of ours makes: numbers that ask for more memory or time than the file's size explains, and traces that `check` refuses.
#include <gmock/gmock.h>

#include <functional>

#include "tests/fuzz/read_or_refuse.hpp"
#include "tests/fuzz/sealed_frames.hpp"
#include "tests/support/workloads.hpp"
#include "traces/format/invariants.hpp"
#include "traces/format/trace_writer.hpp"

namespace homenode {
namespace {

using format::ByteWriter;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::ThrowsMessage;

class HostileTrace : public testing::Test {
protected:
  // A small sound trace, its frames changed and sealed again.
  void write(const std::function<void(std::vector<fuzz::PlainFrame>&)>& change) const {
    write_trace(file_.path(), *test::jacobi2d(12, 2));
    std::vector<fuzz::PlainFrame> frames = fuzz::frames_of(file_.path());
    change(frames);
    fuzz::seal(frames, file_.path());
  }
  // Tables are written more than once; the last counts.
  static fuzz::PlainFrame& last(std::vector<fuzz::PlainFrame>& frames, RecordType type) {
    return *std::find_if(frames.rbegin(), frames.rend(), [&](const fuzz::PlainFrame& frame) { return frame.is(type); });
  }
  void replace(RecordType type, const std::function<void(ByteWriter&)>& fields) const {
    write([&](auto& frames) {
      ByteWriter out;
      out.record(type, [&] { fields(out); });
      last(frames, type).raw = out.bytes();
    });
  }
  void expect_refused(const std::string& why) const {
    EXPECT_THAT([this] { TraceFile{file_.path()}; }, ThrowsMessage<InputError>(HasSubstr(why)));
  }
  fuzz::ScratchFile file_;
};

TEST_F(HostileTrace, ListsAreAsLongAsTheirBytesAllow) {
  // each name could be empty: 1 byte in the file, 32 in memory
  replace(RecordType::meta, [](ByteWriter& out) {
    for (unsigned text = 0; text < 5; ++text) out.text("");
    out.unsigned_value(1);
    out.unsigned_value(4096);
    out.unsigned_value(100000);
    for (unsigned name = 0; name < 100000; ++name) out.text("");
  });
  expect_refused("the number of features is 100000; at most 4096 is allowed");
  // a dimension takes 3 bytes: of 30 further bytes at most 10 are dimensions
  replace(RecordType::region, [](ByteWriter& out) {
    for (unsigned field = 0; field < 4; ++field) out.unsigned_value(0);
    out.unsigned_value(11);
    for (unsigned byte = 0; byte < 30; ++byte) out.byte(0);
  });
  expect_refused("a region's dimensions is 11; at most 10 is allowed");
  // slots take memory in whatever looks at a pattern
  replace(RecordType::pattern, [](ByteWriter& out) {
    out.unsigned_value(1);
    out.unsigned_value(most_slots);
    for (unsigned field = 0; field < 3; ++field) out.unsigned_value(0);
  });
  expect_refused("a pattern of 16777215 slots in so short a record");
  replace(RecordType::execution, [](ByteWriter& out) {
    out.unsigned_value(100000000);  // a row of a table that would have to be as long
    for (unsigned field = 0; field < 20; ++field) out.byte(0);
  });
  expect_refused("execution 100000000 in so small a file");
}

TEST_F(HostileTrace, IndexNamesEachFrameOnce) {
  replace(RecordType::index, [](ByteWriter& out) {
    out.unsigned_value(0);
    out.unsigned_value(2);
    out.unsigned_value(0);  // the first ITEM frame
    out.unsigned_value(0);  // and the same again
  });
  expect_refused("frames of execution 0 that do not ascend");
}

TEST_F(HostileTrace, ObjectsFitInAProcess) {
  const auto object_of = [this](std::uint64_t bytes, std::uint64_t alignment) {
    replace(RecordType::object, [&](ByteWriter& out) {
      for (const std::uint64_t field : {std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{0}, bytes, alignment}) out.unsigned_value(field);
      for (unsigned field = 0; field < 4; ++field) out.unsigned_value(0);
    });
  };
  object_of(std::uint64_t{1} << 48, 1);
  expect_refused("of 281474976710656 bytes aligned to 1; at most 140737488355328 and 1073741824 are allowed");
  object_of(8, std::uint64_t{1} << 63);
  expect_refused("of 8 bytes aligned to 9223372036854775808;");
}

TEST_F(HostileTrace, UnknownFramesThatNeedNotBeReadAreSkipped) {
  write([](auto& frames) { frames.insert(frames.begin() + 1, {30, false, std::vector<std::uint8_t>(64 << 20)}); });
  EXPECT_TRUE(fuzz::read_or_refuse(file_.path()));
  write([](auto& frames) { frames.insert(frames.begin() + 1, {30, true, {}}); });
  expect_refused("unknown critical record of type 30");
}

TEST_F(HostileTrace, TheWriterPadsWhatUnpacksToTooMuch) {
  // 64 MiB of zeros take 2 KiB. A file of n bytes may unpack to 16 MiB + 256 n, so n is at least 48 MiB / 256 = 192 KiB.
  const std::vector<std::uint8_t> zeros(64 << 20);
  format::FrameWriter writer{file_.path()};
  writer.finish(writer.write(RecordType::mark, zeros));
  EXPECT_GE(std::filesystem::file_size(file_.path()), 192u << 10);
  EXPECT_LT(std::filesystem::file_size(file_.path()), 200u << 10);
  std::size_t found = 0;
  format::FrameReader{file_.path()}.walk([](std::uint16_t) { return true; }, [&](const format::Frame& frame) { found = frame.raw.size(); });
  EXPECT_EQ(found, zeros.size());
}

TEST_F(HostileTrace, NamesThatAreNoUtf8AreReadAsEscapes) {
  WorkloadBuilder builder;
  const ObjectId a = builder.object("s\xE9.c:3", 160);
  const RegionId loop = builder.loop("caf\xE9", 10);
  builder.nest(loop, {2}, {read(a, 0, {8}, 16)});
  builder.repeat(loop);
  const auto workload = builder.build();
  workload->program = "p\xFF";
  workload->arguments = "caf\xE9";
  write_trace(file_.path(), *workload);
  const TraceFile file{file_.path()};
  EXPECT_EQ(file.regions.at(0).label, "caf\\xE9");
  EXPECT_EQ(file.objects.at(0).symbol, "s\\xE9.c:3");
  EXPECT_EQ(file.program, "p\\xFF");
  EXPECT_EQ(file.arguments, "caf\\xE9");
}

// What `check` tells of, opening or reading refuses: in patterns and tasks at once, in bodies when they are loaded.
class BrokenTrace : public HostileTrace {
protected:
  void expect_check_and_refusal(const Workload& workload, const std::string& problem) const {
    write_trace(file_.path(), workload);
    EXPECT_THAT(broken_invariants(TraceFile{file_.path(), TraceRules::references}), testing::Contains(HasSubstr(problem)));
    EXPECT_THAT(
        [this] {
          const TraceFile file{file_.path()};
          for (std::size_t e = 0; e < file.executions.size(); ++e) file.body(ExecutionId{e});
        },
        ThrowsMessage<InputError>(HasSubstr(problem)));
  }
};

TEST_F(BrokenTrace, AccessesStayInTheirObject) {
  const auto workload = test::jacobi2d(12, 2);
  expect_check_and_refusal(
      *[&] {
        workload->objects[0].bytes = 24;
        return workload;
      }(),
      "of object 0 ('");
}

TEST_F(BrokenTrace, ProductsOfAnyNumbersAreBounded) {
  const auto workload = test::jacobi2d(12, 2);
  AccessRun& run = workload->patterns.at(0).runs.at(0);
  run.dimensions = AccessRun::max_dimensions;
  for (RunDimension& dimension : run.dimension) dimension = {0xFFFFFFFF, INT64_MAX, 1};
  expect_check_and_refusal(*workload, "pattern 0: has more accesses than 64 bits count");
  for (RunDimension& dimension : run.dimension) dimension = {1, 0, 0};
  run.dimension[0] = {3, INT64_MAX, 1};
  EXPECT_THAT(broken_invariants(*workload), testing::Contains(HasSubstr("2305843009213693952")));  // as far as an extent reaches
}

TEST_F(BrokenTrace, TasksOfAConstructAreBounded) {
  const auto workload = std::dynamic_pointer_cast<MemoryWorkload>(test::tasks(6));
  EXPECT_THAT(broken_invariants(*workload), IsEmpty());
  for (Execution& execution : workload->executions) {
    if (workload->regions[execution.region.index()].kind == RegionKind::task) execution.iterations = INT64_MAX;
  }
  EXPECT_THAT(broken_invariants(*workload), testing::Contains(HasSubstr("brings its construct to more than 67108864 tasks")));
}

}  // namespace
}  // namespace homenode
