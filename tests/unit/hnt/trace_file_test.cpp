// Writing a trace and reading it give the same workload, field by field; anything less than a whole, sound file is refused.
#include "traces/hnt/trace_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "sim/errors.hpp"
#include "tests/support/workloads.hpp"
#include "traces/hnt/frames.hpp"
#include "traces/hnt/trace_writer.hpp"

namespace homenode {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

// Every field of a workload as text, one entry a line: two workloads are equal if their texts are.
class Description {
public:
  static std::string of(const Workload& workload) {
    Description text;
    text.whole(workload);
    return text.out_.str();
  }

private:
  template <class... Fields>
  void line(const char* name, const Fields&... fields) {
    out_ << name;
    ((out_ << " | " << fields), ...);
    out_ << "\n";
  }
  template <class Enum>
  static unsigned number(Enum value) {
    return static_cast<unsigned>(value);
  }

  void pattern(const ItemPattern& p) {
    line("pattern", p.slots, p.accesses, p.reads, p.writes);
    const WorkCounts& w = p.work;
    line(" work", w.instructions, w.integer, w.fp_add, w.fp_multiply, w.fp_fma, w.divide, w.load, w.store, w.branch);
    for (const AccessRun& r : p.runs) {
      line(" run", r.slot, r.width, number(r.kind), r.streamable, r.bulk, number(r.dimensions), r.producer_distance, r.site.value(),
           r.offset, r.sequence);
      for (unsigned d = 0; d < r.dimensions; ++d)
        line("  dimension", r.dimension[d].count, r.dimension[d].stride, r.dimension[d].sequence_stride);
    }
    for (const IrregularStream& s : p.streams) {
      line(" stream", s.site.value(), number(s.kind), s.width, s.slot.size(), s.offset.size(), s.producer_distance.size(),
           s.sequence.size());
      for (std::size_t i = 0; i < s.slot.size(); ++i) line("  access", s.slot[i], s.offset[i], s.producer_distance[i], s.sequence[i]);
    }
    for (const HeapEvent& e : p.heap_events) line(" heap", e.sequence, number(e.operation), e.slot, e.zeroed);
    for (const SyncEvent& e : p.sync_events) line(" sync", e.sequence, number(e.operation), e.object, e.match);
  }

  void whole(const Workload& w) {
    out_.precision(17);
    line("meta", w.program, w.compiler, w.arguments, w.complete, w.page_size);
    for (const TracedObject& o : w.objects)
      line("object", number(o.kind), o.thread_private, o.bytes, o.alignment, o.site.value(), o.symbol, o.reallocated_from.value(),
           o.owner_hint);
    for (const Region& r : w.regions) {
      line("region", number(r.kind), r.label, r.site.value(), r.nowait, r.ordered, r.reduction, r.schedule_clause);
      for (const LoopDimension& d : r.dimensions) line(" loop", d.low, d.high, d.step);
    }
    for (const ItemPattern& p : w.patterns) pattern(p);
    for (const Site& s : w.sites) line("site", s.pc, s.file, s.line, s.function);
    for (const TracedThread& t : w.threads) line("thread", t.parent.value(), t.routine, t.rank);
    for (const Loss& l : w.losses) line("loss", l.site.value(), l.reason, l.count);
    for (std::size_t i = 0; i < w.executions.size(); ++i) {
      const Execution& e = w.executions[i];
      line("execution", e.region.value(), e.ordinal, e.iterations, number(e.binding), e.team, e.parallel, e.barrier_after, e.step,
           e.accesses, e.reads, e.writes);
      for (const ItemBlock& block : w.body(ExecutionId{i})->blocks) {
        line(" block", block.first, block.last, block.pattern.value());
        for (const SlotBinding& slot : block.slots) line("  slot", slot.object.value(), slot.base, slot.shift);
      }
    }
  }

  std::ostringstream out_;
};

// A workload with a value other than the default in every field, and the greatest and least that fields can hold.
std::shared_ptr<MemoryWorkload> every_field() {
  auto w = std::make_shared<MemoryWorkload>();
  w->program = "prog\xc3\xa4", w->compiler = "gcc 12", w->arguments = "a b";
  w->complete = false, w->page_size = 65536;
  w->sites = {{0xffffffffffffffff, "a.c", 4294967295u, "main"}, {7, "", 0, ""}};
  w->threads = {{ThreadId::none(), "main", 0}, {ThreadId{0}, "team", -3}};
  for (unsigned kind = 0; kind < 6; ++kind) {
    TracedObject object{static_cast<ObjectKind>(kind), kind % 2 == 1, std::uint64_t{1} << (8 * kind), 64, SiteId{kind % 2}, "o", {}, -1};
    object.symbol += std::to_string(kind);
    object.reallocated_from = kind == 3 ? ObjectId{1} : ObjectId::none();
    object.owner_hint = static_cast<std::int32_t>(kind) - 1;
    w->objects.push_back(object);
    w->regions.push_back({static_cast<RegionKind>(kind), "r" + std::to_string(kind), SiteId{1}, {}, kind == 1, kind == 2, kind == 4, ""});
  }
  w->regions[1].dimensions = {{-5, 100, 3}, {INT64_MAX, INT64_MIN, -1}};
  w->regions[1].schedule_clause = "static,1";

  ItemPattern p;
  p.slots = 3, p.accesses = 1000, p.reads = 900, p.writes = 101;
  p.work = {1.5, 2.25, 3.125, 4, 5, 6, 7, 8, 0.1};
  for (unsigned kind = 0; kind < 4; ++kind) {
    AccessRun run;
    run.slot = static_cast<std::uint16_t>(kind % 3), run.width = 65535, run.kind = static_cast<AccessKind>(kind);
    run.streamable = kind == 1, run.bulk = kind == 2, run.dimensions = static_cast<std::uint8_t>(kind + 1);
    run.producer_distance = UINT32_MAX - kind, run.site = SiteId{kind % 2};
    run.offset = kind % 2 == 1 ? INT64_MIN : INT64_MAX, run.sequence = UINT64_MAX - kind;
    for (unsigned d = 0; d <= kind; ++d) run.dimension[d] = {UINT32_MAX - d, -8 * static_cast<std::int64_t>(d), 77 + d};
    p.runs.push_back(run);
  }
  p.streams.push_back({SiteId{1}, AccessKind::atomic, 4, {2, 0, 1}, {-9, INT64_MAX, INT64_MIN}, {0, UINT32_MAX, 3}, {5, 6, UINT64_MAX}});
  for (unsigned i = 0; i < 5; ++i)
    p.heap_events.push_back({i * 1000, static_cast<HeapOperation>(i), static_cast<std::uint16_t>(i % 3), i == 4});
  for (unsigned i = 0; i < 17; ++i) p.sync_events.push_back({i, static_cast<SyncOperation>(i), UINT64_MAX - i, i * 3});
  w->patterns = {p, {}};
  w->losses = {{SiteId{1}, "an unknown instruction", UINT64_MAX}};

  for (unsigned binding = 0; binding < 3; ++binding) {
    Execution e;
    e.region = RegionId{binding + 1}, e.ordinal = 9, e.iterations = 40, e.binding = static_cast<Binding>(binding);
    e.team = 12, e.parallel = 34 + binding, e.barrier_after = binding == 1, e.step = binding == 2 ? 5 : -1;
    e.accesses = 40000, e.reads = 36000, e.writes = 4040;
    w->executions.push_back(e);
    ExecutionBody body;
    body.blocks = {{0, 39, PatternId{0}, {{ObjectId{0}, -16, 8}, {ObjectId{5}, INT64_MAX, INT64_MIN}, {ObjectId{2}, 1, 0}}},
                   {39, 40, PatternId{1}, {}}};
    w->bodies.push_back(std::make_shared<ExecutionBody>(body));
  }
  return w;
}

class TraceFileTest : public testing::Test {
protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "hnt-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path path(const std::string& name = "x.hnt") const { return folder_ / name; }
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.insert(entry.path().filename().string());
    return names;
  }
  static std::string bytes(const fs::path& file) {
    std::ifstream in{file, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  fs::path put(const std::string& content, const std::string& name = "bad.hnt") const {
    std::ofstream{path(name), std::ios::binary} << content;
    return path(name);
  }
  // What opening and reading everything says: the error, or "" if there is none.
  static std::string refusal(const fs::path& file) {
    try {
      const auto trace = open_trace(file);
      for (std::size_t i = 0; i < trace->executions.size(); ++i) trace->body(ExecutionId{i});
    } catch (const InputError& error) { return error.what(); }
    return "";
  }
  // Offsets right behind each frame, in order of the file.
  static std::vector<std::uint64_t> frame_ends(const fs::path& file, std::vector<format::FrameType>* types = nullptr) {
    std::vector<std::uint64_t> ends;
    const format::FrameReader reader{file};
    format::Frame frame;
    for (std::uint64_t at = format::file_header_bytes; reader.whole(at, frame); at = frame.next) {
      ends.push_back(frame.next);
      if (types != nullptr) types->push_back(frame.type);
    }
    return ends;
  }

  fs::path folder_;
};

TEST_F(TraceFileTest, EveryFieldComesBack) {
  const auto written = every_field();
  const std::string hash = write_trace(*written, path());
  const auto read = open_trace(path());
  // read(write(w)) = w
  EXPECT_EQ(Description::of(*read), Description::of(*written));
  EXPECT_EQ(read->content_hash, hash);
  EXPECT_EQ(hash.size(), 32u);
}

TEST_F(TraceFileTest, KernelsComeBackAndWrittenAgainAreTheSameBytes) {
  const std::vector<std::shared_ptr<Workload>> kernels = {test::jacobi2d(20, 3), test::stream_triad(1000, 10, 2, true),
                                                          test::chase(64, 100, 4), test::gather(100, 64, 5)};
  for (const auto& kernel : kernels) {
    const std::string hash = write_trace(*kernel, path("first.hnt"));
    const auto first = open_trace(path("first.hnt"));
    EXPECT_EQ(Description::of(*first), Description::of(*kernel));
    // hash(read(write(w))) = hash(w), and so are the bytes
    EXPECT_EQ(write_trace(*first, path("second.hnt")), hash);
    EXPECT_EQ(bytes(path("first.hnt")), bytes(path("second.hnt")));
  }
}

TEST_F(TraceFileTest, AnEmptyWorkloadIsATrace) {
  write_trace(MemoryWorkload{}, path());
  EXPECT_EQ(Description::of(*open_trace(path())), Description::of(MemoryWorkload{}));
}

TEST_F(TraceFileTest, TheHashTellsAccessesNotWork) {
  const std::string hash = write_trace(*test::jacobi2d(20, 2), path());
  EXPECT_NE(write_trace(*test::jacobi2d(21, 2), path()), hash);
  EXPECT_NE(write_trace(*test::jacobi2d(20, 3), path()), hash);
  auto worked = test::jacobi2d(20, 2);
  for (ItemPattern& pattern : worked->patterns) pattern.work.instructions += 1;
  EXPECT_EQ(write_trace(*worked, path()), hash);
  auto shifted = test::jacobi2d(20, 2);
  shifted->patterns.back().runs.back().offset += 8;
  EXPECT_NE(write_trace(*shifted, path()), hash);
}

TEST_F(TraceFileTest, TablesMayGrowWhileExecutionsAreWritten) {
  const auto whole = test::jacobi2d(20, 3);
  MemoryWorkload growing;
  TraceWriter writer{path()};
  growing.sites = whole->sites, growing.objects = whole->objects;
  for (std::size_t i = 0; i < whole->executions.size(); ++i) {
    const auto body = whole->body(ExecutionId{i});
    std::size_t regions = whole->executions[i].region.index() + 1, patterns = growing.patterns.size();
    for (const ItemBlock& block : body->blocks) patterns = std::max(patterns, block.pattern.index() + 1);
    regions = std::max(regions, growing.regions.size());
    for (std::size_t r = growing.regions.size(); r < regions; ++r) growing.regions.push_back(whole->regions[r]);
    for (std::size_t p = growing.patterns.size(); p < patterns; ++p) growing.patterns.push_back(whole->patterns[p]);
    writer.add(growing, whole->executions[i], *body);
  }
  const std::string hash = writer.finish(*whole);
  EXPECT_EQ(Description::of(*open_trace(path())), Description::of(*whole));
  EXPECT_EQ(write_trace(*whole, path("other.hnt")), hash);
}

TEST_F(TraceFileTest, FilesThatAreNoTracesAreRefusedByName) {
  const auto refused = [&](const std::string& content, const std::string& reason) {
    const std::string error = refusal(put(content));
    EXPECT_THAT(error, HasSubstr("bad.hnt")) << reason;
    EXPECT_THAT(error, HasSubstr(reason));
  };
  refused("", "is empty");
  refused("\x89HNT", "does not begin as a homenode trace");
  refused(std::string(100, 'x'), "does not begin as a homenode trace");
  write_trace(*test::chase(8, 8), path());
  std::string newer = bytes(path());
  newer[8] = 2;
  refused(newer, "version 2, from a newer homenode; allowed: version 1");
  std::string text = bytes(path());
  text.erase(text.find('\r'), 1);  // what a text conversion does
  refused(text, "does not begin as a homenode trace");
  EXPECT_THAT(refusal(path("missing.hnt")), HasSubstr("missing.hnt"));
  EXPECT_THAT(refusal(folder_), HasSubstr("is not a file"));
}

TEST_F(TraceFileTest, EveryTruncationIsRefused) {
  write_trace(*test::jacobi2d(12, 1), path());
  const std::string whole = bytes(path());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(refusal(put(whole.substr(0, size))), HasSubstr("bad.hnt")) << "cut to " << size << " of " << whole.size() << " bytes";
  }
  // an index that is gone: the message says what can be done
  EXPECT_THAT(refusal(put(whole.substr(0, whole.size() - format::trailer_bytes))), HasSubstr("--recover"));
}

TEST_F(TraceFileTest, EveryFlippedBitIsRefusedOrWithoutConsequence) {
  write_trace(*test::chase(4, 4), path());
  const std::string whole = bytes(path());
  const std::string expected = Description::of(*open_trace(path()));
  std::size_t harmless = 0;
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const fs::path file = put(damaged);
    const std::string error = refusal(file);
    if (!error.empty()) {
      EXPECT_THAT(error, HasSubstr("bad.hnt")) << "bit " << bit;
      continue;
    }
    ++harmless;
    EXPECT_EQ(Description::of(*open_trace(file)), expected) << "bit " << bit << " of byte " << bit / 8;
  }
  // The last 4 bytes of the header are the only ones without meaning: 32 bits.
  EXPECT_EQ(harmless, 32u);
}

TEST_F(TraceFileTest, AFileCutBehindAWholeFrameKeepsItsExecutions) {
  const auto workload = test::jacobi2d(16, 4);
  write_trace(*workload, path());
  const std::string whole = bytes(path());
  std::vector<format::FrameType> types;
  const auto ends = frame_ends(path(), &types);
  std::size_t executions = 0;
  for (std::size_t f = 0; f < ends.size(); ++f) {
    executions += types[f] == format::FrameType::execution ? 1 : 0;
    // Cut at the end of frame f, and 5 bytes into the next: kept = executions whose frames are whole.
    for (const std::uint64_t size : {ends[f], std::min<std::uint64_t>(ends[f] + 5, whole.size())}) {
      const fs::path cut = put(whole.substr(0, size), "killed.hnt.part");
      EXPECT_EQ(recover_trace(cut, path("recovered.hnt")), executions);
      const auto recovered = open_trace(path("recovered.hnt"));
      EXPECT_FALSE(recovered->complete);
      ASSERT_EQ(recovered->executions.size(), executions);
      for (std::size_t i = 0; i < executions; ++i) {
        EXPECT_EQ(recovered->executions[i].accesses, workload->executions[i].accesses);
        const auto body = recovered->body(ExecutionId{i}), original = workload->body(ExecutionId{i});
        ASSERT_EQ(body->blocks.size(), original->blocks.size());
        for (std::size_t b = 0; b < body->blocks.size(); ++b) {
          EXPECT_EQ(recovered->patterns[body->blocks[b].pattern.index()].accesses,
                    workload->patterns[original->blocks[b].pattern.index()].accesses);
        }
      }
    }
  }
  EXPECT_EQ(executions, workload->executions.size());
  EXPECT_GT(executions, 2u);
}

TEST_F(TraceFileTest, OnlyTheTargetIsLeftBehind) {
  const auto workload = test::chase(8, 8);
  {
    TraceWriter writer{path()};
    writer.add(*workload, workload->executions[0], *workload->body(ExecutionId{0}));
    EXPECT_EQ(files(), (std::set<std::string>{"x.hnt.part"}));
  }
  EXPECT_EQ(files(), std::set<std::string>{});
  write_trace(*workload, path());
  EXPECT_EQ(files(), (std::set<std::string>{"x.hnt"}));
  const std::string before = bytes(path());
  { TraceWriter abandoned{path()}; }
  // a writer that gives up leaves the old file as it was
  EXPECT_EQ(bytes(path()), before);
  EXPECT_THROW(TraceWriter{path("no/such/folder.hnt")}, InputError);
}

TEST_F(TraceFileTest, BodiesAreReadFromSeveralThreads) {
  const auto workload = test::jacobi2d(16, 30);
  write_trace(*workload, path());
  const auto trace = open_trace(path());
  const auto sum = [](const Workload& w, std::size_t first) {
    std::int64_t total = 0;
    for (std::size_t round = 0; round < 20; ++round) {
      for (std::size_t i = 0; i < w.executions.size(); ++i) {
        const std::size_t at = (first + i * 7) % w.executions.size();
        for (const ItemBlock& block : w.body(ExecutionId{at})->blocks) {
          for (const SlotBinding& slot : block.slots)
            total += static_cast<std::int64_t>(at + 1) * (slot.base + block.last + slot.object.value());
        }
      }
    }
    return total;
  };
  const std::int64_t expected = sum(*workload, 0);
  std::int64_t found[2] = {};
  std::thread other{[&] { found[1] = sum(*trace, 13); }};
  found[0] = sum(*trace, 0);
  other.join();
  // each thread sees each body as often as the other, in another order: equal sums
  EXPECT_EQ(found[0], expected);
  EXPECT_EQ(found[1], expected);
}

}  // namespace
}  // namespace homenode
