// Whole imports: what is decoded is what was read; what is refused leaves nothing behind.
#include "traces/importers/import_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "sim/base/errors.hpp"
#include "sim/program/recorded.hpp"
#include "traces/format/invariants.hpp"
#include "traces/format/trace_file.hpp"
#include "traces/format/trace_summary.hpp"
#include "traces/format/trace_writer.hpp"
#include "traces/importers/unfold.hpp"

namespace homenode {
namespace {

using ::testing::HasSubstr;

class ImportTest : public ::testing::Test {
protected:
  ImportTest() {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = std::filesystem::temp_directory_path() / ("homenode-import-" + name + "-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    options_.input = folder_ / "input.txt";
    options_.output = folder_ / "trace.hnt";
  }
  ~ImportTest() override { std::filesystem::remove_all(folder_); }

  std::shared_ptr<Workload> import(bool lackey, const std::string& text) {
    std::ofstream{options_.input, std::ios::binary} << text;
    result_ = lackey ? import_lackey(options_) : import_csv(options_);
    auto workload = open_trace(options_.output);
    EXPECT_THAT(broken_invariants(*workload), ::testing::IsEmpty());
    EXPECT_EQ(workload->content_hash, result_.content_hash);
    return workload;
  }
  std::string error_of(bool lackey, const std::string& text) {
    std::ofstream{options_.input, std::ios::binary} << text;
    try {
      lackey ? import_lackey(options_) : import_csv(options_);
    } catch (const InputError& error) {
      for (const auto& entry : std::filesystem::directory_iterator{folder_}) EXPECT_EQ(entry.path(), options_.input);
      return error.what();
    }
    return "no error";
  }
  std::filesystem::path folder_;
  ImportOptions options_;
  ImportResult result_;
};

// The accesses of all executions of one iteration, one after the other.
std::vector<UnfoldedAccess> unfold_all(const Workload& workload, std::int64_t iteration) {
  std::vector<UnfoldedAccess> all;
  for (std::size_t e = 0; e < workload.executions.size(); ++e) {
    const auto some = unfold(workload, ExecutionId{e}, iteration);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

const char* kind_name(AccessKind kind) {
  switch (kind) {
    case AccessKind::read: return "read";
    case AccessKind::write: return "write";
    case AccessKind::read_modify_write: return "modify";
    case AccessKind::atomic: return "atomic";
  }
  return "";
}

// Rows of a matrix, a chain of random nodes and a stack.
std::vector<UnfoldedAccess> mixed_accesses(unsigned seed, std::size_t count) {
  std::mt19937_64 random{seed};
  std::vector<UnfoldedAccess> result;
  std::uint64_t at = 0;
  while (result.size() < count) {
    at = (at + 8) % 8000;
    result.push_back({0x4000000 + at, 0x401000, 8, AccessKind::read});
    if (random() % 2 == 0) result.push_back({0x7f0000000000 + random() % (8 << 20), 0x401008, 4, AccessKind::write});
    result.push_back({0x1ffe000000 - random() % 4 * 8, 0x401010, 8, AccessKind::read_modify_write});
  }
  return result;
}

TEST_F(ImportTest, LackeyTextComesBackAccessByAccess) {
  const std::vector<UnfoldedAccess> accesses = mixed_accesses(1, 20000);
  std::ostringstream text;
  text << "==12== Lackey, an example Valgrind tool\n==12== Command: ./program 3 4\n==12== \n" << std::hex;
  for (const UnfoldedAccess& access : accesses) {
    const char kind = access.kind == AccessKind::read ? 'L' : access.kind == AccessKind::write ? 'S' : 'M';
    text << "I  " << access.site << ",4\n " << kind << ' ' << access.address << ',' << access.width << '\n';
  }
  text << "I  401020,2\n==12== \n==12== Exit code:       0\n";
  const auto workload = import(true, text.str());
  EXPECT_EQ(unfold_all(*workload, 0), accesses);
  EXPECT_EQ(workload->program, "./program");
  EXPECT_EQ(workload->arguments, "3 4");
  EXPECT_TRUE(workload->complete);
  // instructions = I lines; loads = L and M lines, stores = S and M lines
  const TraceSummary summary = summarize(*workload);
  EXPECT_EQ(summary.work.instructions, static_cast<double>(accesses.size() + 1));
  EXPECT_EQ(summary.work.load, static_cast<double>(summary.sums.reads));
  EXPECT_EQ(summary.work.store, static_cast<double>(summary.sums.writes));
  EXPECT_EQ(workload->regions.size(), 1u);
  EXPECT_EQ(workload->regions[0].kind, RegionKind::serial);
  for (const TracedObject& object : workload->objects) EXPECT_EQ(object.kind, ObjectKind::unknown);
}

TEST_F(ImportTest, PartsOfALongImportFollowEachOther) {
  // however little may be held, the parts one after the other are the whole
  const std::vector<UnfoldedAccess> accesses = mixed_accesses(2, 20000);
  std::ostringstream text;
  text << "address,size,kind,site\n";
  for (const UnfoldedAccess& access : accesses)
    text << access.address << ',' << access.width << ',' << kind_name(access.kind) << ',' << access.site << '\n';
  options_.most_held = 1000;
  const auto workload = import(false, text.str());
  EXPECT_GT(workload->executions.size(), 5u);
  EXPECT_EQ(unfold_all(*workload, 0), accesses);
  for (const Execution& execution : workload->executions) EXPECT_EQ(execution.iterations, 1);
}

TEST_F(ImportTest, ThreadsOfATableAreRanksOfATeam) {
  // thread numbers 7, 300, 12 -> ranks 0, 2, 1; each gets its own accesses in their order, however the rows are mixed
  const std::map<std::uint64_t, std::int64_t> rank_of{{7, 0}, {12, 1}, {300, 2}};
  std::map<std::uint64_t, std::vector<UnfoldedAccess>> accesses;
  std::ostringstream text;
  text << "sequence, thread, kind, address, size\n";
  std::mt19937_64 random{3};
  std::uint64_t sequence = 0;
  for (unsigned i = 0; i < 9000; ++i) {
    const std::uint64_t thread = std::array<std::uint64_t, 3>{7, 300, 12}[random() % (i < 6000 ? 3 : 1)];
    const UnfoldedAccess access{0x10000 + random() % 1000000, 0, static_cast<std::uint16_t>(1 + random() % 512),
                                static_cast<AccessKind>(random() % 4)};
    accesses[thread].push_back(access);
    text << (sequence += 1 + random() % 3) << ',' << thread << ',' << kind_name(access.kind) << ",0x" << std::hex << access.address
         << std::dec << ',' << access.width << '\n';
  }
  options_.most_held = 900;
  const auto workload = import(false, text.str());
  EXPECT_GT(workload->executions.size(), 1u);
  for (const auto& [thread, rank] : rank_of) EXPECT_EQ(unfold_all(*workload, rank), accesses[thread]) << "thread " << thread;
  EXPECT_EQ(result_.threads, (std::vector<std::uint64_t>{7, 12, 300}));
  for (const Execution& execution : workload->executions) {
    EXPECT_EQ(execution.binding, Binding::rank);
    EXPECT_EQ(execution.team, 3u);
    EXPECT_EQ(execution.barrier_after, &execution == &workload->executions.back());
  }
}

TEST_F(ImportTest, ItemsOfATableAreFreeIterations) {
  // items 0 ... 99 of 10 accesses each, 50 to 59 left out: 100 iterations, of which those do nothing
  std::ostringstream text;
  text << "item,address,size,kind\n";
  const auto address = [](unsigned item, unsigned i) { return 0x100000 + item * 640 + i * 64; };
  for (unsigned item = 0; item < 100; ++item) {
    for (unsigned i = 0; i < 10 && item / 10 != 5; ++i) text << item << ',' << address(item, i) << ",8,read\r\n";
  }
  const auto workload = import(false, text.str());
  ASSERT_EQ(workload->executions.size(), 1u);
  EXPECT_EQ(workload->executions[0].iterations, 100);
  EXPECT_EQ(workload->executions[0].binding, Binding::free);
  EXPECT_EQ(workload->body(ExecutionId{0u})->blocks.size(), 3u);
  for (unsigned item = 0; item < 100; ++item) {
    std::vector<UnfoldedAccess> expected;
    for (unsigned i = 0; i < 10 && item / 10 != 5; ++i) expected.push_back({address(item, i), 0, 8, AccessKind::read});
    EXPECT_EQ(unfold(*workload, ExecutionId{0u}, item), expected) << item;
  }
  EXPECT_TRUE(has(*workload, Recorded::iterations));
  EXPECT_FALSE(has(*workload, Recorded::dependence));
}

TEST_F(ImportTest, WhatATraceLacksIsDeclaredAndKept) {
  const auto workload = import(true, " L 1000,8\n");
  EXPECT_EQ(workload->lacks, result_.lacks);
  EXPECT_EQ(workload->lacks.size(), recorded_kinds);
  EXPECT_EQ(workload->losses.size(), workload->lacks.size());
  EXPECT_THAT(workload->losses[0].reason, HasSubstr("valgrind lackey: objects"));
  try {
    require(*workload, Recorded::heap_calls, "heap 'tcmalloc'");
    FAIL() << "not refused";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "heap 'tcmalloc' needs allocations and releases, which the imported trace of 'input' lacks (heap-calls); "
                 "allowed: a trace that `homenode capture` made");
  }
  write_trace(folder_ / "copy.hnt", *workload);
  EXPECT_EQ(open_trace(folder_ / "copy.hnt")->lacks, workload->lacks);
}

TEST_F(ImportTest, ATraceOfAKilledProgramIsTruncated) {
  EXPECT_FALSE(import(true, "==5== Command: ./a\n L 1000,8\n")->complete);
  EXPECT_TRUE(import(true, "==5== Command: ./a\n L 1000,8\n==5== Exit code:       0\n")->complete);
}

TEST_F(ImportTest, TheSameAccessesElsewhereHaveTheSameHash) {
  // every address moved by a multiple of the page size
  const auto text = [](std::uint64_t by) {
    std::ostringstream out;
    out << "address,size,kind\n";
    for (std::uint64_t i = 0; i < 100; ++i) out << 0x100010 + by + i * 24 << ",8,write\n";
    return out.str();
  };
  const std::string hash = import(false, text(0))->content_hash;
  EXPECT_EQ(import(false, text(37 * 4096))->content_hash, hash);
  EXPECT_NE(import(false, text(8))->content_hash, hash);
}

TEST_F(ImportTest, BadLackeyTextIsRefusedWithItsLine) {
  const auto refused = [&](const std::string& text) { return error_of(true, text); };
  EXPECT_THAT(refused("==1== x\n L 1000,8\nhello\n"), HasSubstr("input.txt:3: found 'hello'; allowed: 'I  address,size'"));
  EXPECT_THAT(refused(" L 1000,8\n\n"), HasSubstr(":2: found ''; allowed"));
  EXPECT_THAT(refused(" L 10x0,8\n"), HasSubstr(":1: found address '10x0'; allowed"));
  EXPECT_THAT(refused(" L 1000\n"), HasSubstr(":1: found address '1000'; allowed"));
  EXPECT_THAT(refused(" L 1000,0\n"), HasSubstr(":1: found size '0'; allowed: 1 to 512 bytes"));
  EXPECT_THAT(refused(" L 1000,513\n"), HasSubstr("found size '513'"));
  EXPECT_THAT(refused(" L 1000,8,\n"), HasSubstr("found size '8,'"));
  EXPECT_THAT(refused(" L -1,8\n"), HasSubstr("found address '-1'"));
  EXPECT_THAT(refused(" L ffffffffffffffff,8\n"), HasSubstr("beyond the last address"));
  EXPECT_THAT(refused(" L 1ffffffffffffffff,8\n"), HasSubstr("found address '1ffffffffffffffff'"));
  EXPECT_THAT(refused(" X 1000,8\n"), HasSubstr("found ' X 1000,8'"));
  EXPECT_THAT(refused("L 1000,8\n"), HasSubstr("found 'L 1000,8'"));
  EXPECT_THAT(refused(" L 1000,8\n L 10"), HasSubstr(":2: the file is cut off"));
  EXPECT_THAT(refused("==pid== x\n"), HasSubstr("found '==pid== x'"));
  EXPECT_THAT(refused("==1== x\n==2== y\n"), HasSubstr(":2: found lines of processes 1 and 2"));
  EXPECT_THAT(refused(std::string("\0\xff\n", 3)), HasSubstr("found '\\x00\\xff'"));
  EXPECT_THAT(refused(std::string(70000, 'a')), HasSubstr("a line of more than 65536 characters"));
  EXPECT_THAT(refused("==1== x\n"), HasSubstr("has no accesses"));
  EXPECT_THAT(refused("I  1000,4\n"), HasSubstr("has no accesses"));
  EXPECT_THAT(refused(""), HasSubstr("has no accesses"));
}

TEST_F(ImportTest, ABadTableIsRefusedWithItsLine) {
  const auto refused = [&](const std::string& text) { return error_of(false, text); };
  EXPECT_THAT(refused(""), HasSubstr("is empty; allowed: a header"));
  EXPECT_THAT(refused("address,size,kind\n"), HasSubstr("has no accesses"));
  EXPECT_THAT(refused("address,size,kind,tread\n"), HasSubstr(":1: in the header: unknown column 'tread'; allowed: thread, item"));
  EXPECT_THAT(refused("1000,8,read\n"), HasSubstr("in the header: unknown column '1000'"));
  EXPECT_THAT(refused("address;size;kind\n"), HasSubstr("unknown column 'address;size;kind'"));
  EXPECT_THAT(refused("address,size\n"), HasSubstr("no column 'kind'"));
  EXPECT_THAT(refused("address,size,kind,size\n"), HasSubstr("column 'size' comes twice"));
  EXPECT_THAT(refused("address,size,kind,item,thread\n"), HasSubstr("'thread' and 'item'; allowed: one of them"));
  EXPECT_THAT(refused("address,size,kind\n1,8,read\n1,8\n"), HasSubstr(":3: found 2 fields in '1,8'; allowed: 3"));
  EXPECT_THAT(refused("address,size,kind\n1,8,read,\n"), HasSubstr(":2: found 4 fields"));
  EXPECT_THAT(refused("address,size,kind\n\n"), HasSubstr(":2: found 1 fields in ''"));
  EXPECT_THAT(refused("address,size,kind\n1,8,load\n"), HasSubstr(":2: kind 'load'; allowed: read, write, modify, atomic"));
  EXPECT_THAT(refused("address,size,kind\n1f,8,read\n"), HasSubstr(":2: address '1f'; allowed: a number"));
  EXPECT_THAT(refused("address,size,kind\n0x,8,read\n"), HasSubstr("address '0x'"));
  EXPECT_THAT(refused("address,size,kind\n1,-8,read\n"), HasSubstr("size '-8'"));
  EXPECT_THAT(refused("address,size,kind\n1,4096,read\n"), HasSubstr("size '4096'; allowed: 1 to 512"));
  EXPECT_THAT(refused("address,size,kind\n0xffffffffffffffff,2,read\n"), HasSubstr("beyond the last address"));
  EXPECT_THAT(refused("address,size,kind,item\n1,8,read,4\n1,8,read,3\n"),
              HasSubstr(":3: item 3 after item 4; allowed: lines in the order"));
  EXPECT_THAT(refused("address,size,kind,item\n1,8,read,4294967296\n"), HasSubstr("item 4294967296; allowed: 0 to 4294967295"));
  EXPECT_THAT(refused("address,size,kind,thread,sequence\n1,8,read,0,5\n1,8,read,1,2\n1,8,read,0,5\n"),
              HasSubstr(":4: sequence 5 after 5 (line 2) of its thread; allowed: numbers that grow"));
  std::string many = "address,size,kind,thread\n";
  for (int i = 0; i < 4097; ++i) many += "1,8,read," + std::to_string(i) + "\n";
  EXPECT_THAT(refused(many), HasSubstr(":4098: more than 4096 threads"));
}

TEST_F(ImportTest, AnyTextIsReadOrRefused) {
  // whatever bytes are changed, left out or put in: a whole trace that keeps the invariants, or one InputError and no file
  const std::string lackey =
      "==1== Command: a b\nI  401000,4\n L 1ffe0,8\nI  401004,2\n S 7fff0,16\n M 1ffe8,4\n==1== Exit code:       0\n";
  const std::string csv = "thread,address,size,kind,sequence,site\n0,0x1000,8,read,1,5\n1,4096,4,write,2,6\r\n0,0x2000,8,atomic,3,5\n";
  unsigned read = 0, refused = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    std::mt19937_64 random{seed};
    std::string text = seed % 2 == 0 ? lackey : csv;
    for (std::uint64_t changes = 1 + random() % 3; changes > 0 && !text.empty(); --changes) {
      const std::size_t at = random() % text.size();
      const char byte = random() % 2 == 0 ? static_cast<char>(random()) : ",\n =0fLSMI"[random() % 10];
      switch (random() % 3) {
        case 0: text[at] = byte; break;
        case 1: text.erase(at, 1 + random() % 4); break;
        default: text.insert(at, 1 + random() % 3, byte);
      }
    }
    std::ofstream{options_.input, std::ios::binary} << text;
    std::filesystem::remove(options_.output);
    try {
      const ImportResult result = seed % 2 == 0 ? import_lackey(options_) : import_csv(options_);
      const auto workload = open_trace(options_.output);
      ASSERT_THAT(broken_invariants(*workload), ::testing::IsEmpty()) << text;
      ASSERT_EQ(access_sums(*workload).accesses, result.accesses) << text;
      ++read;
    } catch (const InputError&) {
      ++refused;
      ASSERT_FALSE(std::filesystem::exists(options_.output)) << text;
    }
    ASSERT_FALSE(std::filesystem::exists(folder_ / "trace.hnt.part")) << text;
  }
  EXPECT_GT(read, 100u);
  EXPECT_GT(refused, 100u);
}

TEST_F(ImportTest, WhatIsNoFileIsRefused) {
  const auto message = [&] {
    try {
      import_lackey(options_);
    } catch (const Error& error) { return std::string(error.what()); }
    return std::string("no error");
  };
  EXPECT_THAT(message(), HasSubstr("no file"));
  options_.input = folder_;
  EXPECT_THAT(message(), HasSubstr("is no regular file; allowed: one that can be read twice"));
  options_.input = options_.output = folder_ / "same";
  std::ofstream{options_.input} << " L 1000,8\n";
  EXPECT_THAT(message(), HasSubstr("is the input"));
}

TEST_F(ImportTest, AnImportThatIsInterruptedLeavesNothing) {
  std::ofstream{options_.input} << " L 1000,8\n";
  std::ofstream{options_.output} << "an older file";
  int reports = 0;
  options_.progress = [&](std::uint64_t, std::uint64_t) {
    if (++reports == 2) throw Error("interrupted");  // the first is of the survey
  };
  for (int i = 0; i < 18; ++i) {  // 2^18 accesses and more, so that the second pass reports
    std::ifstream in{options_.input};
    std::stringstream all;
    all << in.rdbuf();
    std::ofstream{options_.input, std::ios::app} << all.str();
  }
  EXPECT_THROW(import_lackey(options_), Error);
  std::stringstream left;
  left << std::ifstream{options_.output}.rdbuf();
  EXPECT_EQ(left.str(), "an older file");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "trace.hnt.part"));
}

}  // namespace
}  // namespace homenode
