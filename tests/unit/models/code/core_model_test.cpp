// What a core model is asked and what becomes of its answer; the model itself is tests/unit/models/core.
#include "models/code/core_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>
#include <xxhash.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "models/code/answers.hpp"
#include "sim/base/errors.hpp"
#include "sim/program/core_time.hpp"

namespace homenode::test {
namespace {

using ::testing::HasSubstr;

struct CodeAlone final : Workload {
  std::shared_ptr<const ExecutionBody> body(ExecutionId) const override { return std::make_shared<const ExecutionBody>(); }
};

// Block 0 runs 10 times in region 0 and calls `exp`, whose code is block 1; block 2 runs 5 times in region 0 and 20 times in region 1.
// Block 3 runs once; block 4 calls `read`, which was timed, 2 times in region 1.
CodeAlone program_with_code() {
  CodeAlone workload;
  workload.regions.resize(3);
  ExecutedCode& code = workload.executed;
  code.blocks = {{.bytes = "\x01\x02", .instructions = 4, .calls = 2},
                 {.bytes = std::string(30, '\x90'), .stepped = true, .instructions = 2, .function = "exp", .library = "libm.so.6"},
                 {.bytes = "\xff", .instructions = 6},
                 {.bytes = "\x90", .instructions = 1},
                 {.bytes = "\xc3", .instructions = 1, .calls = 6},
                 {.stepped = true, .instructions = 200, .function = "read", .nanoseconds = 100}};
  code.windows = {{.blocks = {0, 2}, .times = {2, 3}}};
  code.counts = {{.region = RegionId{0}, .block = 0, .executions = 10, .mispredictions = 1},
                 {.region = RegionId{0}, .block = 2, .executions = 5},
                 {.region = RegionId{1}, .block = 2, .executions = 20, .mispredictions = 4},
                 {.region = RegionId{1}, .block = 4, .executions = 2}};
  code.host_hertz = 2e9;
  return workload;
}

TEST(CoreModelRequest, hasTheBlocksThatMatterAndCallsBehindTheirBlocks) {
  std::string steps;
  for (int step = 0; step < 2; ++step) {
    steps += ' ';
    for (int byte = 0; byte < 15; ++byte) steps += "90";
  }
  // block 3 never ran, block 5 has no code
  EXPECT_EQ(core_model_request(program_with_code(), "znver3"), "cpu znver3\nblock 0 0102\nsteps 1" + steps +
                                                                   "\nblock 2 ff\nblock 4 c3\nwrong 0 10\nwrong 2 6.25\n"
                                                                   "sequence 0 1 0 1 2*3\nend\n");
}

TEST(RegionCycles, areSumsOverBlocksByInstruction) {
  const CodeAlone workload = program_with_code();
  const std::vector<BlockCycles> blocks{{.cycles = 3}, {.cycles = 20}, {.cycles = 2, .resolution = 7}, {}, {.cycles = 1}, {}};
  const CodeCycles found = region_cycles(workload, blocks);
  // region 0: 10 x 4 + 5 x 6 = 70 instructions, 10 x 3 + 5 x 2 = 40 cycles, 10 calls of 20; 1 misprediction
  ASSERT_NE(found.of(RegionId{0}), nullptr);
  EXPECT_DOUBLE_EQ(found.of(RegionId{0})->cycles, 40.0 / 70 + 200.0 / 70);
  EXPECT_DOUBLE_EQ(found.of(RegionId{0})->mispredictions, 1.0 / 70);
  // region 1: 20 x 6 + 2 = 122 instructions, 20 x 2 + 2 x 1 cycles, 2 calls of 100 ns at 2 GHz
  EXPECT_DOUBLE_EQ(found.of(RegionId{1})->cycles, 42.0 / 122 + 2 * 200.0 / 122);
  EXPECT_DOUBLE_EQ(found.of(RegionId{0})->resolution, 0);
  EXPECT_DOUBLE_EQ(found.of(RegionId{1})->resolution, 4 * 7.0 / 122);
  EXPECT_EQ(found.of(RegionId{2}), nullptr);
}

TEST(RegionCycles, ofBlocksThatWereNotLookedAtAreAsOfTheOthers) {
  const CodeAlone workload = program_with_code();
  const std::vector<BlockCycles> blocks{{}, {}, {.cycles = 3}, {}, {}, {}};
  // 6 instructions in 3 cycles: half a cycle for each of the 70
  EXPECT_DOUBLE_EQ(region_cycles(workload, blocks).of(RegionId{0})->cycles, 0.5);
}

TEST(RegionCycles, countLoadsOfBlocksThatStandInSequences) {
  const CodeAlone workload = program_with_code();
  const std::vector<BlockCycles> blocks{{.cycles = 3, .loads = {{0, 2, 0}}}, {}, {.cycles = 2, .alone = true}, {},
                                        {.cycles = 1, .loads = {{0, 1, 0}}}, {}};
  const CodeCycles found = region_cycles(workload, blocks);
  EXPECT_DOUBLE_EQ(found.of(RegionId{0})->loads, 2.0 / 4);  // of its other block nothing is known
  EXPECT_DOUBLE_EQ(found.of(RegionId{1})->loads, 1);        // 2 executions of one instruction
  EXPECT_EQ(loading_instructions({.instructions = 8}, found.of(RegionId{0})), 4);
  EXPECT_EQ(loading_instructions({.instructions = 8, .load = 3}, nullptr), 3);
  const std::vector<BlockCycles> alone{{.cycles = 3, .alone = true}, {}, {.cycles = 2, .alone = true}, {}, {}, {}};
  EXPECT_EQ(loading_instructions({.instructions = 8, .load = 3}, region_cycles(workload, alone).of(RegionId{0})), 3);
}

TEST(RegionCycles, tellWhichShareOfInstructionsComputesOnWideVectors) {
  const CodeAlone workload = program_with_code();
  const std::vector<BlockCycles> blocks{
      {.cycles = 3, .wide_256 = 1}, {.cycles = 20, .wide_512 = 2}, {.cycles = 2, .wide_256 = 2, .wide_512 = 3}, {}, {}, {}};
  const CodeCycles found = region_cycles(workload, blocks);
  // region 0: 10 x 4 + 5 x 6 instructions and 10 calls of 2
  EXPECT_DOUBLE_EQ(found.of(RegionId{0})->wide_256, (10 * 1 + 5 * 2) / 90.0);
  EXPECT_DOUBLE_EQ(found.of(RegionId{0})->wide_512, (10 * 2 + 5 * 3) / 90.0);
  EXPECT_EQ(found.width_of(RegionId{0}), VectorWidth::bits_512);
  // region 1: of 20 x 6 instructions; nothing is known of the two others, nor of the calls that were timed
  EXPECT_DOUBLE_EQ(found.of(RegionId{1})->wide_256, 40 / 120.0);
  EXPECT_DOUBLE_EQ(found.of(RegionId{1})->wide_512, 60 / 120.0);
  EXPECT_EQ(found.width_of(RegionId{2}), VectorWidth::narrow);  // no code
}

TEST(RegionCycles, haveAWidthFromATenthOfTheirInstructionsOn) {
  const auto width = [](double of_256, double of_512) { return RegionCycles{.cycles = 1, .wide_256 = of_256, .wide_512 = of_512}.width(); };
  EXPECT_EQ(width(0.09, 0), VectorWidth::narrow);
  EXPECT_EQ(width(0.1, 0), VectorWidth::bits_256);
  EXPECT_EQ(width(0.06, 0.06), VectorWidth::bits_256);  // heavy ones on 512 bits below their rate ask for the clock of 256
  EXPECT_EQ(width(0, 0.1), VectorWidth::bits_512);
  EXPECT_EQ(width(0.9, 0.1), VectorWidth::bits_512);
}

TEST(RegionCycles, haveNoCallsThatHardlyMatter) {
  CodeAlone workload = program_with_code();
  // exp executes 10 x 2 instructions, the program 40 + 30 + 6 x 400 + 2: under a hundredth part
  workload.executed.counts[2].executions = 400;
  const std::vector<BlockCycles> blocks{{.cycles = 3}, {.cycles = 20}, {.cycles = 2}, {}, {.cycles = 1}, {}};
  EXPECT_DOUBLE_EQ(region_cycles(workload, blocks).of(RegionId{0})->cycles, 40.0 / 70);
  EXPECT_EQ(core_model_request(workload, "znver3").find("steps"), std::string::npos);
}

// A site's loads are those of the block that begins at its line, or at the nearest one before it in its file.
TEST(WaitedLoads, ofASiteAreThoseOfItsBlocks) {
  CodeAlone workload = program_with_code();
  ExecutedCode& code = workload.executed;
  code.blocks[0].file = code.blocks[2].file = "a.c", code.blocks[4].file = "b.c";
  code.blocks[0].line = 10, code.blocks[2].line = 20, code.blocks[4].line = 5;
  for (const auto& [file, line] : {std::pair{"a.c", 9U}, {"a.c", 10U}, {"a.c", 12U}, {"a.c", 30U}, {"b.c", 9U}, {"c.c", 10U}})
    workload.sites.push_back({.file = file, .line = line, .function = {}});
  const std::vector<BlockCycles> blocks{
      {.cycles = 3, .loads = {{0, 2, 1}}}, {}, {.cycles = 2, .loads = {{0, 1, 1}}}, {}, {.cycles = 1}, {}};
  // 10 executions x 1 of 2 loads from line 10 on; all of the loads from line 20 on; b.c's block has none, c.c no block
  EXPECT_THAT(*region_cycles(workload, blocks).waited, testing::ElementsAre(0, 128, 128, 255, 0, 0));
}

// Block 0 begins at line 10 of a.c; its instructions from 2 on are of line 12, the last one of line 3 of a header.
TEST(WaitedLoads, ofASiteAreThoseOfTheLoadsOfItsLine) {
  CodeAlone workload = program_with_code();
  ExecutedCode& code = workload.executed;
  code.blocks[0].file = code.blocks[2].file = "a.c";
  code.blocks[0].line = 10, code.blocks[2].line = 12;
  code.places = {{.block = 0, .instruction = 2, .file = "a.c", .line = 12}, {.block = 0, .instruction = 3, .file = "b.h", .line = 3}};
  for (const auto& [file, line] : {std::pair{"a.c", 10U}, {"a.c", 12U}, {"a.c", 14U}, {"b.h", 3U}, {"b.h", 2U}})
    workload.sites.push_back({.file = file, .line = line, .function = {}});
  const std::vector<BlockCycles> blocks{
      {.cycles = 3, .loads = {{1, 1, 0}, {2, 1, 1}, {3, 1, 0.5}}}, {}, {.cycles = 2, .loads = {{0, 1, 0}}}, {}, {.cycles = 1}, {}};
  // 12: 10 of 10 loads, and 0 of 25 of block 2; 14 has no load, and goes with 12; no load of b.h is before line 3
  EXPECT_THAT(*region_cycles(workload, blocks).waited, testing::ElementsAre(0, 73, 73, 128, 0));
}

// A loop's body begins with a function that was inlined from line 3; line 8 in front of it ran once. Far away begins something else.
TEST(WaitedLoads, areNotThoseOfABlockThatHardlyRan) {
  CodeAlone workload = program_with_code();
  ExecutedCode& code = workload.executed;
  for (const std::size_t block : {0, 2, 3}) code.blocks[block].file = "a.c";
  code.blocks[2].line = 3, code.blocks[3].line = 8;
  code.counts.front().executions = 10000;
  code.counts[1].executions = 1000;
  code.counts.push_back({.region = RegionId{0}, .block = 3, .executions = 1});
  for (const unsigned line : {8U, 10U, 53U, 54U}) workload.sites.push_back({.file = "a.c", .line = line, .function = {}});
  const std::vector<BlockCycles> blocks{{}, {}, {.cycles = 2, .loads = {{0, 1, 0}}}, {.cycles = 1, .loads = {{0, 2, 2}}}, {}};
  // 1020 loads of the body, 2 of the other; 54 is 51 lines behind the body
  EXPECT_THAT(*region_cycles(workload, blocks).waited, testing::ElementsAre(0, 0, 0, 255));
}

class Answers : public ::testing::Test {
protected:
  Answers() : folder_{std::filesystem::temp_directory_path() / ("homenode-answers-" + std::to_string(getpid()))} {
    std::filesystem::create_directories(folder_);
  }
  ~Answers() override { std::filesystem::remove_all(folder_); }
  // Writes a line to `asked` each time it runs.
  CoreModelFiles program(const std::string& rest) const {
    const std::filesystem::path path = folder_ / "model";
    std::ofstream{path} << "#!/bin/sh\necho again >> '" << (folder_ / "asked").string() << "'\n" << rest << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return {.program = path, .answers = folder_ / "answers"};
  }
  std::string times_asked() const {
    std::ifstream file{folder_ / "asked"};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  const std::filesystem::path folder_;
};

TEST_F(Answers, areAskedForOnce) {
  const CoreModelFiles files = program("cat");
  EXPECT_EQ(answer_to("cpu a\nend\n", files), "cpu a\nend\n");
  EXPECT_EQ(answer_to("cpu a\nend\n", files), "cpu a\nend\n");
  EXPECT_EQ(times_asked(), "again\n");
  EXPECT_EQ(answer_to("cpu b\nend\n", files), "cpu b\nend\n");
  EXPECT_EQ(times_asked(), "again\nagain\n");
}

// The key that they had before blocks told of vectors: request, size and time of the program.
TEST_F(Answers, ofAnEarlierFormAreNotRead) {
  const CoreModelFiles files = program("cat");
  const auto changed = std::filesystem::last_write_time(files.program).time_since_epoch().count();
  const std::string asked = "x" + std::to_string(std::filesystem::file_size(files.program)) + ' ' + std::to_string(changed);
  const XXH128_hash_t digest = XXH3_128bits(asked.data(), asked.size());
  std::array<char, 33> key{};
  std::snprintf(key.data(), key.size(), "%016llx%016llx", static_cast<unsigned long long>(digest.high64),
                static_cast<unsigned long long>(digest.low64));
  std::filesystem::create_directories(files.answers);
  std::ofstream{files.answers / (std::string{key.data()} + ".json")} << "of before";
  EXPECT_EQ(answer_to("x", files), "x");
  EXPECT_EQ(times_asked(), "again\n");
}

TEST_F(Answers, thatAreRefusalsAreTheUsersAndAreNotKept) {
  const CoreModelFiles files = program("echo 'found b; allowed: a' >&2\nexit 2");
  for (int n = 0; n < 2; ++n) {
    try {
      answer_to("x", files);
      FAIL() << "no error";
    } catch (const UsageError& error) { EXPECT_THAT(error.what(), HasSubstr("found b; allowed: a")); }
  }
  EXPECT_EQ(times_asked(), "again\nagain\n");
}

TEST_F(Answers, ofAProgramThatBreaksAreAnError) {
  EXPECT_THROW(answer_to("x", program("kill -ABRT $$")), InputError);
  EXPECT_THROW(answer_to("x", {.program = folder_ / "absent", .answers = folder_}), UsageError);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "answers"));  // nothing half
}

TEST(CodeCyclesOfARun, needATraceWithCodeAndACoreWithAModel) {
  use_core_model({});
  const CodeAlone workload = program_with_code();
  Machine machine;
  EXPECT_EQ(code_cycles(workload, machine, "auto"), nullptr);
  EXPECT_EQ(code_cycles(workload, machine, "classes"), nullptr);
  const auto refused = [&](const Workload& of) -> std::string {
    try {
      code_cycles(of, machine, "blocks");
    } catch (const UsageError& error) { return error.what(); }
    return "no error";
  };
  EXPECT_THAT(refused(CodeAlone{}), HasSubstr("the trace has no code"));
  EXPECT_THAT(refused(workload), HasSubstr("core.llvm_cpu"));
  machine.core.llvm_cpu = "znver3";
  EXPECT_THAT(refused(workload), HasSubstr("without LLVM"));
}

TEST(CoreSeconds, ofBlocksAreCyclesAndMispredictionsOverTheClock) {
  Machine machine;
  machine.clock = Frequency::hertz(2e9);
  machine.core.misprediction = 10;
  WorkCounts work;
  work.instructions = 100;
  const RegionCycles code{.cycles = 1.5, .mispredictions = 0.02};
  // 100 x (1.5 + 0.02 x 10) cycles at 2 GHz
  EXPECT_DOUBLE_EQ(core_seconds(work, &code, machine), 170 / 2e9);
  EXPECT_DOUBLE_EQ(core_seconds(work, nullptr, machine), core_seconds(work, machine.core, machine.clock));
}

TEST(CoreSeconds, ofWrongBranchesHaveTheirResolution) {
  Machine machine;
  machine.clock = Frequency::hertz(1e9);
  machine.core.misprediction = 10;
  WorkCounts work;
  work.instructions = 100;
  const auto cycles = [&](double resolution) {
    const RegionCycles code{.cycles = 1, .mispredictions = 0.02, .resolution = resolution};
    return core_seconds(work, &code, machine) * 1e9;
  };
  EXPECT_DOUBLE_EQ(cycles(0.1), 100 + 20 + 10);
  EXPECT_DOUBLE_EQ(cycles(-0.1), 100 + 20 - 10);
  EXPECT_DOUBLE_EQ(cycles(-0.5), 100);  // no wrong branch saves time
  machine.core.misprediction = 0;       // all are predicted right
  EXPECT_DOUBLE_EQ(cycles(0.1), 100);
}

}  // namespace
}  // namespace homenode::test
