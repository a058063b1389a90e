// Every record type with every field different from its default, in the bytes that schema version 1 gives it.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "sim/base/errors.hpp"
#include "tests/fuzz/read_or_refuse.hpp"
#include "traces/format/frame.hpp"
#include "traces/format/trace_file.hpp"
#include "traces/format/trace_writer.hpp"

namespace homenode {
namespace {

ItemPattern pattern_of_everything(SiteId site) {
  ItemPattern pattern;
  pattern.slots = 2;
  pattern.accesses = 8;
  pattern.reads = 7;
  pattern.writes = 6;
  AccessRun run{.slot = 1, .width = 16, .kind = AccessKind::atomic, .bulk = true, .dimensions = 2, .producer_distance = 5, .site = site};
  run.offset = -8;
  run.sequence = 3;
  run.dimension[0] = {2, -16, 1};
  run.dimension[1] = {3, 32, 7};
  AccessRun streamed{.width = 8, .kind = AccessKind::write, .streamable = true, .site = site};
  pattern.runs = {run, streamed};
  pattern.streams = {{.site = site,
                      .kind = AccessKind::write,
                      .width = 4,
                      .slot = {1, 0},
                      .offset = {64, -64},
                      .producer_distance = {9, 0},
                      .sequence = {4, 6}}};
  pattern.heap_events = {{.sequence = 2, .operation = HeapOperation::reallocate, .slot = 1, .zeroed = true}};
  pattern.sync_events = {{.sequence = 4, .operation = SyncOperation::ordered_enter, .object = 77, .match = 88}};
  return pattern;
}

// One flag of a region is set at a time: a bit that is read from the place of another one is seen.
Region region_with(const char* label, bool Region::*flag, SiteId site) {
  Region region{
      .kind = RegionKind::task, .label = label, .site = site, .dimensions = {{0, 10, 2}, {5, -5, -1}}, .schedule_clause = "static,1"};
  region.*flag = true;
  return region;
}

void write_everything(const std::filesystem::path& path) {
  TraceWriter writer{path};
  writer.meta({.tool = "homenode 1",
               .compiler = "gcc-12",
               .compiler_flags = "-O2",
               .program = "prog",
               .arguments = "a b",
               .capture_threads = 8,
               .page_size = 65536,
               .features = {"work", "lacks:dependence"}});
  const SiteId site = writer.add(Site{.pc = 0x40, .file = "a.c", .line = 7, .function = "f"}, {});
  const SiteId inlined = writer.add(Site{.pc = 0x44, .file = "b.h", .line = 9, .function = "g"}, {.inline_parent = site});
  const ThreadId main = writer.add(TracedThread{.routine = "main"}, {});
  const ThreadId thread = writer.add(TracedThread{.parent = main, .routine = "work", .rank = 3}, {.create_event = 1, .join_event = 2});
  const RegionId region = writer.add(region_with("r", &Region::nowait, inlined));
  writer.add(region_with("s", &Region::ordered, inlined));
  writer.add(region_with("t", &Region::reduction, inlined));
  TracedObject object{.kind = ObjectKind::mapped, .thread_private = true, .bytes = 640, .alignment = 64, .site = inlined, .symbol = "m"};
  object.owner_hint = 3;
  const ObjectId first = writer.add(object);
  object.reallocated_from = first;
  const ObjectId second = writer.add(object);
  const Segment segment{.ordinal = 1, .work = {9, 8, 7, 6, 5, 4, 3, 2, 1}, .cost_class = "fp"};
  const PatternId pattern = writer.add(region, pattern_of_everything(inlined), {segment});
  const ExecutionId later = writer.open_execution(region, 20), earlier = writer.open_execution(region, 10);
  writer.append(later, {0, 2, pattern, {{second, 100, 16}, {first, -8, 8}}});
  writer.append(later, {2, 5, pattern, {{first, 132, 16}, {second, 8, -8}}});
  writer.append(earlier, {0, 1, pattern, {{first, 100, 0}, {first, 0, 0}}});
  writer.origin(later, {.first = 2, .parent = {earlier, 4}, .creator = thread, .first_sequence = 99, .thread_body = true});
  writer.close_execution(earlier, {.region = region, .iterations = 1, .binding = Binding::rank, .parallel = 4, .step = -3});
  writer.close_execution(
      later,
      {.region = region, .iterations = 5, .binding = Binding::replicated, .team = 2, .parallel = 5, .barrier_after = true, .step = 3},
      {.parent = {earlier, 6}});
  writer.add(Loss{.site = inlined, .reason = "why", .count = 12});
  writer.add(Edge{.predecessor = {earlier, 3}, .successor = {later, 1}, .kind = EdgeKind::join});
  writer.add(Mark{.item = {later, 1}, .sequence = 5, .operation = MarkOperation::owner, .value = -2, .object = second, .text = "text"});
  writer.add(Calibration{.region = region, .cost_class = "fp", .cycles = 100, .clock_hertz = 2e9, .host = "host", .measured = true});
  writer.add(RegionCode{.region = region,
                        .function = "text",
                        .library = "host",
                        .recorded = RecordedOfCall::heap,
                        .basis = InstructionBasis::timed,
                        .calls = 3,
                        .instructions = 120,
                        .samples = 2});
  ExecutedCode code;
  code.blocks = {
      {.bytes = "\x90\xc3", .stepped = false, .address = 300, .instructions = 2, .file = "a.c", .line = 7, .nanoseconds = 3, .calls = 2},
      {.bytes = std::string(15, '\x90'), .stepped = true, .instructions = 1, .function = "f", .library = "host"}};
  code.places = {{.block = 0, .instruction = 1, .file = "b.h", .line = 9}};
  code.windows = {{.blocks = {0, 1}, .times = {5, 1}}};
  code.counts = {{.region = region, .block = 1, .executions = 6, .mispredictions = 2}};
  code.host_hertz = 3e9;
  code.times = {{.regions = {region}, .seconds = 0.25}};
  writer.add(code);
  writer.work_rate(region, {.per_access = {1, 2, 3, 4, 5, 6, 7, 8, 9}, .per_iteration = {2, 3, 4, 5, 6, 7, 8, 9, 10}});
  writer.finish(true);
}

// The payloads of a file's frames in hexadecimal digits, by record type.
std::map<std::string, std::string> payloads_of(const std::filesystem::path& path) {
  std::map<std::string, std::string> payloads;
  format::FrameReader{path}.walk([](std::uint16_t) { return true; },
                                 [&](const format::Frame& frame) {
                                   std::string& digits = payloads[name_of(static_cast<RecordType>(frame.type))];
                                   for (const std::uint8_t byte : frame.raw) {
                                     digits += "0123456789abcdef"[byte >> 4];
                                     digits += "0123456789abcdef"[byte & 15];
                                   }
                                   digits += ' ';
                                 });
  return payloads;
}

// But for INDEX, whose offsets depend on zstd.
const std::map<std::string, std::string> version1{
    {"CALIBRATION", "2414010100000000000059400000000065cddd410401 "},
    {"CODE_BLOCK", "2e140290c300ac0202050700000000000000000840022e200f90909090909090909090909090909001000100000604000000000000000000 "},
    {"CODE_COUNT", "3212010100000000000018400000000000000040 "},
    {"CODE_HOST", "3408000000c00b5ae641 "},
    {"CODE_PLACE", "380400010709 "},
    {"CODE_WINDOW", "30050200010501 "},
    {"EDGE", "21050206010203 "},
    {"EXECUTION",
     "0d0f010a010002010104000508070600000d0f001401000a020205010628231e020c 0d0f001401010a020205010628231e020c0d0f010a01000"
     "201010400050807060000 "},
    {"FOOTER", "2b2801020102302a24203630646332666536626561353766626364633536363333313335643864326132 "},
    {"ITEM", "0f0f0101000100021d070000c8010000000f200002000203000002021d0d02000102c8010f40202010001f0f06040208026301 "},
    {"LOSS", "270302020c "},
    {"MARK", "230701020503030203 "},
    {"MEASURED_TIME", "360a0101000000000000d03f "},
    {"META",
     "0394020a686f6d656e6f64652031066763632d3132032d4f320470726f6703612062088080040204776f726b106c61636b733a646570656e"
     "64656e6365001c044d45544106535452494e4704534954450654485245414406524547494f4e09455845435554494f4e044954454d075345"
     "474d454e54064f424a45435404484541500352554e0653545245414d075041545445524e08494e5354414e43450453594e43044544474504"
     "4d41524b0b43414c4942524154494f4e044c4f535305494e44455806464f4f544552074f5554534944450a434f44455f424c4f434b0b434f"
     "44455f57494e444f570a434f44455f434f554e5409434f44455f484f53540d4d454153555245445f54494d450a434f44455f504c414345 0"
     "394020a686f6d656e6f64652031066763632d3132032d4f320470726f6703612062088080040204776f726b106c61636b733a646570656e6"
     "4656e6365011c044d45544106535452494e4704534954450654485245414406524547494f4e09455845435554494f4e044954454d0753454"
     "74d454e54064f424a45435404484541500352554e0653545245414d075041545445524e08494e5354414e43450453594e430445444745044"
     "d41524b0b43414c4942524154494f4e044c4f535305494e44455806464f4f544552074f5554534944450a434f44455f424c4f434b0b434f4"
     "4455f57494e444f570a434f44455f434f554e5409434f44455f484f53540d4d454153555245445f54494d450a434f44455f504c414345 "},
    {"OBJECT", "130a000401800540020f0006130a010401800540020f0106 130a000401800540020f0006130a010401800540020f0106 "},
    {"OUTSIDE", "2c16010304020200000000000008400000000000005e4002 "},
    {"PATTERN",
     "1b89010102080706114a01000000000000224000000000000020400000000000001c400000000000001840000000000000144000000000000010"
     "4000000000000008400000000000000040000000000000f03f01170f0110030205020f0302021f010340071709000801010002000000190e0201"
     "040201008001ff01090004021504020201011f04040e4d58 "},
    {"REGION",
     "0b0d00020b02020014040a0901010c0b0d01020d02020014040a0901020c0b0d02020e02020014040a0901040c 0b0d00020b02020014040a090"
     "1010c0b0d01020d02020014040a0901020c0b0d02020e02020014040a0901040c "},
    {"SEGMENT",
     "11910101000000000000f03f00000000000000400000000000000840000000000000104000000000000014400000000000001840000000000000"
     "1c400000000000002040000000000000224000000000000000400000000000000840000000000000104000000000000014400000000000001840"
     "0000000000001c40000000000000204000000000000022400000000000002440 "},
    {"SITE", "07060040050706000706014407090801 07060040050706000706014407090801 "},
    {"STRING",
     "0502000005040102667005050203776879050603047465787405060404686f737405050503612e63050306016605050703622e680503080167 0"
     "50609046d61696e05060a04776f726b 05030b0172050a0c087374617469632c3105030d017305030e0174 05030f016d "},
    {"THREAD", "0906000009000000090601010a060102 "},
};

TEST(Records, HaveTheBytesOfSchemaVersion1) {
  const fuzz::ScratchFile file;
  write_everything(file.path());
  auto payloads = payloads_of(file.path());
  EXPECT_EQ(payloads.erase("INDEX"), 1u);
  EXPECT_EQ(payloads, version1);
}

class ReadRecords : public ::testing::Test {
protected:
  static std::unique_ptr<TraceFile> read() {
    const fuzz::ScratchFile file;
    write_everything(file.path());
    return std::make_unique<TraceFile>(file.path(), TraceRules::references);
  }
  const std::unique_ptr<TraceFile> file = read();  // stays open, its name is gone
};

TEST_F(ReadRecords, OfTheFile) {
  EXPECT_EQ(file->meta.tool, "homenode 1");
  EXPECT_EQ(file->compiler, "gcc-12");
  EXPECT_EQ(file->meta.compiler_flags, "-O2");
  EXPECT_EQ(file->program, "prog");
  EXPECT_EQ(file->arguments, "a b");
  EXPECT_EQ(file->meta.capture_threads, 8u);
  EXPECT_EQ(file->page_size, 65536u);
  EXPECT_EQ(file->meta.features, (std::vector<std::string>{"work", "lacks:dependence"}));
  EXPECT_EQ(file->lacks, std::vector<std::string>{"dependence"});
  EXPECT_TRUE(file->complete);
  EXPECT_EQ(file->content_hash.size(), 32u);
}

TEST_F(ReadRecords, OfTheTables) {
  ASSERT_EQ(file->sites.size(), 2u);
  EXPECT_EQ(file->sites[1].pc, 0x44u);
  EXPECT_EQ(file->sites[1].file, "b.h");
  EXPECT_EQ(file->sites[1].line, 9u);
  EXPECT_EQ(file->sites[1].function, "g");
  EXPECT_EQ(file->site_extras[1].inline_parent, SiteId{0});
  ASSERT_EQ(file->threads.size(), 2u);
  EXPECT_EQ(file->threads[1].parent, ThreadId{0});
  EXPECT_EQ(file->threads[1].routine, "work");
  EXPECT_EQ(file->threads[1].rank, 3);
  EXPECT_EQ(file->thread_extras[1].create_event, 1u);
  EXPECT_EQ(file->thread_extras[1].join_event, 2u);
  ASSERT_EQ(file->objects.size(), 2u);
  EXPECT_EQ(file->objects[1].kind, ObjectKind::mapped);
  EXPECT_TRUE(file->objects[1].thread_private);
  EXPECT_EQ(file->objects[1].bytes, 640u);
  EXPECT_EQ(file->objects[1].alignment, 64u);
  EXPECT_EQ(file->objects[1].site, SiteId{1});
  EXPECT_EQ(file->objects[1].symbol, "m");
  EXPECT_EQ(file->objects[1].reallocated_from, ObjectId{0});
  EXPECT_EQ(file->objects[1].owner_hint, 3);
}

TEST_F(ReadRecords, OfCodeOutside) {
  ASSERT_EQ(file->code.size(), 1u);
  EXPECT_EQ(file->code[0].region, RegionId{0});
  EXPECT_EQ(file->code[0].function, "text");
  EXPECT_EQ(file->code[0].library, "host");
  EXPECT_EQ(file->code[0].recorded, RecordedOfCall::heap);
  EXPECT_EQ(file->code[0].basis, InstructionBasis::timed);
  EXPECT_EQ(file->code[0].calls, 3);
  EXPECT_EQ(file->code[0].instructions, 120);
  EXPECT_EQ(file->code[0].samples, 2u);
}

TEST_F(ReadRecords, OfRegions) {
  ASSERT_EQ(file->regions.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const Region& region = file->regions[i];
    EXPECT_EQ(region.kind, RegionKind::task);
    EXPECT_EQ(region.label, std::string(1, "rst"[i]));
    EXPECT_EQ(region.site, SiteId{1});
    ASSERT_EQ(region.dimensions.size(), 2u);
    EXPECT_EQ(region.dimensions[1].low, 5);
    EXPECT_EQ(region.dimensions[1].high, -5);
    EXPECT_EQ(region.dimensions[1].step, -1);
    EXPECT_EQ(region.nowait, i == 0);
    EXPECT_EQ(region.ordered, i == 1);
    EXPECT_EQ(region.reduction, i == 2);
    EXPECT_EQ(region.schedule_clause, "static,1");
  }
}

TEST_F(ReadRecords, OfPatterns) {
  ASSERT_EQ(file->patterns.size(), 1u);
  const ItemPattern& pattern = file->patterns[0];
  EXPECT_EQ(file->pattern_regions[0], RegionId{0});
  EXPECT_EQ(pattern.slots, 2u);
  EXPECT_EQ(pattern.accesses, 8u);
  EXPECT_EQ(pattern.reads, 7u);
  EXPECT_EQ(pattern.writes, 6u);
  ASSERT_EQ(pattern.runs.size(), 2u);
  const AccessRun& run = pattern.runs[0];
  EXPECT_EQ(run.slot, 1u);
  EXPECT_EQ(run.width, 16);
  EXPECT_EQ(run.kind, AccessKind::atomic);
  EXPECT_TRUE(run.bulk && !run.streamable);
  EXPECT_TRUE(pattern.runs[1].streamable && !pattern.runs[1].bulk);
  EXPECT_EQ(run.producer_distance, 5u);
  EXPECT_EQ(run.site, SiteId{1});
  EXPECT_EQ(run.offset, -8);
  EXPECT_EQ(run.sequence, 3u);
  ASSERT_EQ(run.dimensions, 2);
  EXPECT_EQ(run.dimension[0].count, 2u);
  EXPECT_EQ(run.dimension[1].stride, 32);
  EXPECT_EQ(run.dimension[1].sequence_stride, 7u);
  const IrregularStream& stream = pattern.streams.at(0);
  EXPECT_EQ(stream.site, SiteId{1});
  EXPECT_EQ(stream.kind, AccessKind::write);
  EXPECT_EQ(stream.width, 4);
  EXPECT_EQ(stream.slot, (NumberColumn<SlotNumber>{1, 0}));
  EXPECT_EQ(stream.offset, (NumberColumn<std::int64_t>{64, -64}));
  EXPECT_EQ(stream.producer_distance, (NumberColumn<std::uint32_t>{9, 0}));
  EXPECT_EQ(stream.sequence, (NumberColumn<std::uint64_t>{4, 6}));
  const HeapEvent& heap = pattern.heap_events.at(0);
  EXPECT_EQ(heap.sequence, 2u);
  EXPECT_EQ(heap.operation, HeapOperation::reallocate);
  EXPECT_EQ(heap.slot, 1u);
  EXPECT_TRUE(heap.zeroed);
  const SyncEvent& sync = pattern.sync_events.at(0);
  EXPECT_EQ(sync.sequence, 4u);
  EXPECT_EQ(sync.operation, SyncOperation::ordered_enter);
  EXPECT_EQ(sync.object, 77u);
  EXPECT_EQ(sync.match, 88u);
  EXPECT_EQ(file->segments[0].at(0).ordinal, 1u);
  EXPECT_EQ(file->segments[0].at(0).cost_class, "fp");
  // of the segment, of the region's rate for each of 8 accesses, of its rate for an iteration
  EXPECT_EQ(pattern.work.instructions, 9 + 8 * 1 + 2);
  EXPECT_EQ(pattern.work.branch, 1 + 8 * 9 + 10);
}

TEST_F(ReadRecords, OfExecutions) {
  ASSERT_EQ(file->executions.size(), 2u);  // in program order, which is not that of the file
  EXPECT_EQ(file->executions[0].binding, Binding::rank);
  EXPECT_EQ(file->executions[0].ordinal, 0u);
  EXPECT_FALSE(file->executions[0].barrier_after);
  const Execution& execution = file->executions[1];
  EXPECT_EQ(execution.region, RegionId{0});
  EXPECT_EQ(execution.ordinal, 1u);
  EXPECT_EQ(execution.iterations, 5);
  EXPECT_EQ(execution.binding, Binding::replicated);
  EXPECT_EQ(execution.team, 2u);
  EXPECT_EQ(execution.parallel, 5u);
  EXPECT_TRUE(execution.barrier_after);
  EXPECT_EQ(execution.step, 3);
  EXPECT_EQ(execution.accesses, 40u);
  EXPECT_EQ(execution.reads, 35u);
  EXPECT_EQ(execution.writes, 30u);
  EXPECT_EQ(file->execution_extras[1].parent, (ItemReference{ExecutionId{0}, 6}));
  const auto body = file->body(ExecutionId{1});
  ASSERT_EQ(body->blocks.size(), 2u);
  EXPECT_EQ(body->blocks[1].first, 2);
  EXPECT_EQ(body->blocks[1].last, 5);
  EXPECT_EQ(body->blocks[1].slots.at(1).object, ObjectId{1});
  EXPECT_EQ(body->blocks[1].slots.at(1).base, 8);
  EXPECT_EQ(body->blocks[1].slots.at(1).shift, -8);
  const auto origins = file->origins(ExecutionId{1});
  ASSERT_EQ(origins.size(), 1u);
  EXPECT_EQ(origins[0].first, 2);
  EXPECT_EQ(origins[0].parent, (ItemReference{ExecutionId{0}, 4}));
  EXPECT_EQ(origins[0].creator, ThreadId{1});
  EXPECT_EQ(origins[0].first_sequence, 99u);
  EXPECT_TRUE(origins[0].thread_body);
}

TEST_F(ReadRecords, ThatReferToItems) {
  EXPECT_EQ(file->losses.at(0).site, SiteId{1});
  EXPECT_EQ(file->losses[0].reason, "why");
  EXPECT_EQ(file->losses[0].count, 12u);
  const Edge& edge = file->edges.at(0);
  EXPECT_EQ(edge.predecessor, (ItemReference{ExecutionId{0}, 3}));
  EXPECT_EQ(edge.successor, (ItemReference{ExecutionId{1}, 1}));
  EXPECT_EQ(edge.kind, EdgeKind::join);
  const Mark& mark = file->marks.at(0);
  EXPECT_EQ(mark.item, (ItemReference{ExecutionId{1}, 1}));
  EXPECT_EQ(mark.sequence, 5u);
  EXPECT_EQ(mark.operation, MarkOperation::owner);
  EXPECT_EQ(mark.value, -2);
  EXPECT_EQ(mark.object, ObjectId{1});
  EXPECT_EQ(mark.text, "text");
  const Calibration& calibration = file->calibrations.at(0);
  EXPECT_EQ(calibration.region, RegionId{0});
  EXPECT_EQ(calibration.cost_class, "fp");
  EXPECT_EQ(calibration.cycles, 100);
  EXPECT_EQ(calibration.clock_hertz, 2e9);
  EXPECT_EQ(calibration.host, "host");
  EXPECT_TRUE(calibration.measured);
}

// A new record type needs a record in write_everything().
// A record with one field that is not its default.
template <class Record, class Value>
Record with(Value Record::*field, Value value) {
  Record record;
  record.*field = value;
  return record;
}

TEST(Records, ThatReferToWhatIsNotDefinedAreRefused) {
  // One site, thread and object each, number 0: whoever names a number that nobody has is refused.
  const auto with_pattern = [](TraceWriter& writer, const auto& accesses, auto ItemPattern::*list) {
    ItemPattern pattern = with(list, {accesses});
    pattern.slots = 1;
    writer.add(writer.add(Region{}), pattern);
  };
  IrregularStream stream = with(&IrregularStream::site, SiteId{9});
  stream.slot = {0};
  stream.offset = {0};
  stream.sequence = {0};
  stream.producer_distance = {0};
  const std::pair<const char*, std::function<void(TraceWriter&)>> damages[] = {
      {"site 9", [&](TraceWriter& writer) { writer.add(with(&Region::site, SiteId{9})); }},
      {"site 9", [&](TraceWriter& writer) { writer.add(with(&TracedObject::site, SiteId{9})); }},
      {"object 9", [&](TraceWriter& writer) { writer.add(with(&TracedObject::reallocated_from, ObjectId{9})); }},
      {"site 9", [&](TraceWriter& writer) { writer.add(Site{}, with(&SiteExtra::inline_parent, SiteId{9})); }},
      {"thread 9", [&](TraceWriter& writer) { writer.add(with(&TracedThread::parent, ThreadId{9})); }},
      {"site 9", [&](TraceWriter& writer) { writer.add(with(&Loss::site, SiteId{9})); }},
      {"object 9", [&](TraceWriter& writer) { writer.add(with(&Mark::object, ObjectId{9})); }},
      {"site 9", [&](TraceWriter& writer) { with_pattern(writer, with(&AccessRun::site, SiteId{9}), &ItemPattern::runs); }},
      {"site 9", [&](TraceWriter& writer) { with_pattern(writer, stream, &ItemPattern::streams); }}};
  for (const auto& [named, inflict] : damages) {
    const fuzz::ScratchFile file;
    TraceWriter writer{file.path()};
    writer.add(Site{});
    writer.add(TracedThread{});
    writer.add(TracedObject{});
    inflict(writer);
    writer.finish(true);
    try {
      const TraceFile read{file.path()};
      ADD_FAILURE() << named << " is taken";
    } catch (const InputError& error) {
      EXPECT_NE(std::string{error.what()}.find(std::string{named} + " is referred to"), std::string::npos) << error.what();
    }
  }
}

TEST_F(ReadRecords, OfCode) {
  const ExecutedCode& code = file->executed;
  ASSERT_EQ(code.blocks.size(), 2u);
  EXPECT_EQ(code.blocks[0].bytes, "\x90\xc3");
  EXPECT_EQ(code.blocks[0].address, 300u);
  EXPECT_EQ(code.blocks[0].file, "a.c");
  EXPECT_EQ(code.blocks[0].line, 7u);
  EXPECT_EQ(code.blocks[0].nanoseconds, 3);
  EXPECT_EQ(code.blocks[0].calls, 2u);
  EXPECT_FALSE(code.blocks[0].stepped);
  EXPECT_TRUE(code.blocks[1].stepped);
  EXPECT_EQ(code.blocks[1].function, "f");
  EXPECT_EQ(code.blocks[1].library, "host");
  ASSERT_EQ(code.places.size(), 1u);
  EXPECT_EQ(code.places[0].block, 0u);
  EXPECT_EQ(code.places[0].instruction, 1u);
  EXPECT_EQ(code.line_of(0, 0), (std::pair<std::string_view, std::uint32_t>{"a.c", 7}));
  EXPECT_EQ(code.line_of(0, 1), (std::pair<std::string_view, std::uint32_t>{"b.h", 9}));
  ASSERT_EQ(code.windows.size(), 1u);
  EXPECT_EQ(code.windows[0].blocks, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(code.windows[0].times, (std::vector<std::uint32_t>{5, 1}));
  ASSERT_EQ(code.counts.size(), 1u);
  EXPECT_EQ(code.counts[0].block, 1u);
  EXPECT_EQ(code.counts[0].executions, 6);
  EXPECT_EQ(code.counts[0].mispredictions, 2);
  EXPECT_EQ(code.host_hertz, 3e9);
  ASSERT_EQ(code.times.size(), 1u);
  EXPECT_EQ(code.times[0].regions, std::vector<RegionId>{RegionId{0}});
  EXPECT_EQ(code.times[0].seconds, 0.25);
}

TEST(ReadCode, ThatNamesBlocksWhichAreNotThereIsRefused) {
  const auto refused = [](const std::function<void(ExecutedCode&)>& spoil) {
    const fuzz::ScratchFile file;
    TraceWriter writer{file.path()};
    writer.meta(TraceMeta{});
    ExecutedCode code;
    code.blocks = {{.bytes = "\xc3", .stepped = false, .instructions = 1}};
    spoil(code);
    writer.add(code);
    writer.finish(true);
    try {
      const TraceFile trace{file.path()};
    } catch (const InputError&) { return true; }
    return false;
  };
  EXPECT_FALSE(refused([](ExecutedCode&) {}));
  EXPECT_TRUE(refused([](ExecutedCode& code) { code.blocks[0].calls = 2; }));
  EXPECT_TRUE(refused([](ExecutedCode& code) { code.blocks[0].stepped = true; }));  // a byte is no step
  EXPECT_TRUE(refused([](ExecutedCode& code) { code.blocks[0].nanoseconds = -1; }));
  const auto with_places = [](std::uint32_t instructions, std::vector<CodePlace> places) {
    return [=](ExecutedCode& code) { code.blocks[0].instructions = instructions, code.places = places; };
  };
  EXPECT_FALSE(refused(with_places(3, {{.block = 0, .instruction = 1}, {.block = 0, .instruction = 2}})));
  EXPECT_TRUE(refused(with_places(3, {{.block = 0, .instruction = 3}})));
  EXPECT_TRUE(refused(with_places(3, {{.block = 1, .instruction = 1}})));
  EXPECT_TRUE(refused(with_places(3, {{.block = 0, .instruction = 2}, {.block = 0, .instruction = 1}})));
  EXPECT_TRUE(refused([](ExecutedCode& code) { code.windows = {{.blocks = {1}, .times = {1}}}; }));
  EXPECT_TRUE(refused([](ExecutedCode& code) { code.counts = {{.region = RegionId{0}, .block = 0, .executions = 1}}; }));
  EXPECT_TRUE(refused([](ExecutedCode& code) { code.times = {{.regions = {RegionId{0}}, .seconds = 1}}; }));
  EXPECT_TRUE(refused([](ExecutedCode& code) { code.times = {{.regions = {}, .seconds = -1}}; }));
  EXPECT_TRUE(refused([](ExecutedCode& code) { code.host_hertz = std::numeric_limits<double>::infinity(); }));
}

TEST(Records, CoverEveryType) {
  std::set<std::string> covered{"INDEX", "RUN", "STREAM", "HEAP", "SYNC", "INSTANCE"};  // INDEX: a body is found; the others are nested
  for (const auto& [name, digits] : version1) covered.insert(name);
  for (std::uint16_t type = 1; type <= last_record_type; ++type)
    EXPECT_TRUE(covered.contains(name_of(static_cast<RecordType>(type)))) << type;
}

}  // namespace
}  // namespace homenode
