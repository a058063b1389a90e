// Streams that end early, and what the twin's work counts say of such a program.
#include <gtest/gtest.h>

#include <cmath>

#include <filesystem>
#include <fstream>
#include <random>

#include "sim/base/errors.hpp"
#include "tests/support/assembler_fixture.hpp"
#include "tests/support/jacobi_stream.hpp"
#include "traces/format/trace_file.hpp"

namespace homenode {
namespace {

using namespace test::jacobi_stream;
using test::StreamWriter;

class AssemblerEnds : public test::AssemblerFixture {
protected:
  // Loops of one access an iteration, far from each other: more than 10 bytes of stream each.
  StreamWriter scattered(std::uint64_t constructs, std::uint64_t iterations, unsigned seed) const {
    StreamWriter stream;
    stream.hello();
    stream.pc(0, HN_READ, 8);
    stream.allocate(a_address, 8 << 20);
    std::mt19937 random{seed};
    for (std::uint64_t construct = 0; construct < constructs; ++construct) {
      stream.parallel_begin(construct);
      stream.loop_begin(0x3000, iterations);
      for (std::uint64_t i = 0; i < iterations; ++i) {
        stream.item(static_cast<std::int64_t>(i));
        stream.run(0, a_address + random() % (1 << 20) * 8, 0, 1, 0, 0);
      }
      stream.loop_end(true);
      stream.parallel_end(construct);
    }
    return stream;
  }
  // Serial code, a construct, serial code, the same construct again.
  static StreamWriter two_sweeps() {
    StreamWriter stream;
    begin_grids(stream, a_address, b_address);
    jacobi(stream, 50, 0, a_address, b_address);
    jacobi(stream, 50, 1, b_address, a_address);
    stream.end();
    return stream;
  }
};

TEST_F(AssemblerEnds, TheTwinsCountsAreSharedByAccesses) {
  const StreamWriter stream = two_sweeps();
  work_ = folder_ / "work";
  std::ofstream file{work_};
  const auto line = [&](const std::string& kind, unsigned ordinal, unsigned instructions) {
    file << R"({"kind": ")" << kind << R"(", "ordinal": )" << ordinal << R"(, "instructions": )" << instructions
         << R"(, "integer": 1, "fp_add": 2, "fp_multiply": 3, "fp_fma": 4, "divide": 5, "load": 6, "store": 7, "branch": 8})"
         << "\n";
  };
  line("serial", 0, 100), line("parallel", 0, 20000), line("serial", 1, 100), line("parallel", 1, 20000), line("serial", 2, 100);
  file << R"({"kind": "end"})"
       << "\n";
  file.close();
  const auto workload = assembled(stream);
  // The sum over executions, blocks and iterations of a pattern's instructions = 20000 + 20000, those of the loop's two executions.
  double instructions = 0;
  for (std::size_t e = 0; e < workload->executions.size(); ++e) {
    if (workload->regions[workload->executions[e].region.index()].kind != RegionKind::loop) continue;
    for (const ItemBlock& block : workload->body(ExecutionId{e})->blocks) {
      instructions += workload->patterns[block.pattern.index()].work.instructions * static_cast<double>(block.last - block.first);
    }
  }
  EXPECT_NEAR(instructions, 40000, 1e-6);
}

// Serial code makes 4 calls of function 0; the first construct 10, and 6 of function 1, the second 30. Function 0 takes 52 instructions.
TEST_F(AssemblerEnds, CallsOutsideAreOfTheRegionsOfTheirStretch) {
  const StreamWriter stream = two_sweeps();
  work_ = folder_ / "work";
  std::ofstream file{work_};
  const auto line = [&](const std::string& kind, unsigned ordinal, unsigned instructions, const std::string& blocks) {
    file << R"({"kind": ")" << kind << R"(", "ordinal": )" << ordinal << R"(, "instructions": )" << instructions
         << R"(, "integer": 0, "fp_add": 0, "fp_multiply": 0, "fp_fma": 0, "divide": 0, "load": 0, "store": 0, "branch": 0, "blocks": [)"
         << blocks << "]}\n";
  };
  // block 7 calls exp, block 9 calls operator new
  line("serial", 0, 100, "[7, 4, 1]"), line("parallel", 0, 20000, "[7, 10, 2], [9, 6, 0]"), line("serial", 1, 100, "");
  line("parallel", 1, 20000, "[7, 30, 0]"), line("serial", 2, 100, "");
  file
      << R"({"kind": "function", "ordinal": 0, "name": "exp", "library": "libm.so.6", "instructions": 52.0, "basis": "stepped", "samples": 9, "nanoseconds": 12.5, "code": ["909090909090909090909090909090", "c39090909090909090909090909090"]})"
      << "\n"
      << R"({"kind": "function", "ordinal": 1, "name": "_Znwm", "library": "libstdc++.so.6", "instructions": 7, "basis": "timed", "samples": 1})"
      << "\n"
      << R"({"kind": "block", "ordinal": 7, "instructions": 5, "address": 64, "bytes": "90e800000000", "line": 3, "file": "some/where/a.c", "calls": 0})"
      << "\n"
      << R"({"kind": "block", "ordinal": 9, "instructions": 2, "address": 80, "bytes": "c3", "line": 4, "file": "a.c", "calls": 1})"
      << "\n"
      << R"({"kind": "place", "ordinal": 9, "instruction": 1, "line": 12, "file": "some/b.h"})"
      << "\n"
      << R"({"kind": "place", "ordinal": 7, "instruction": 2, "line": 13})"
      << "\n"
      << R"({"kind": "place", "ordinal": 7, "instruction": 4, "line": 3, "file": "some/where/a.c"})"
      << "\n"
      << R"({"kind": "window", "ordinal": 0, "blocks": [[9, 1], [7, 3]]})"
      << "\n"
      << R"({"kind": "host", "hertz": 3e9})"
      << "\n"
      << R"({"kind": "end"})"
      << "\n";
  file.close();
  assembled(stream);
  const TraceFile trace{folder_ / "trace.hnt"};
  const ExecutedCode& executed = trace.executed;
  ASSERT_EQ(executed.blocks.size(), 3u);  // exp's and two of the program; the heap model has the time of operator new
  EXPECT_EQ(executed.blocks[0].function, "exp");
  EXPECT_TRUE(executed.blocks[0].stepped);
  EXPECT_EQ(executed.blocks[0].bytes.size(), 2 * CodeBlock::stepped_bytes);
  EXPECT_EQ(executed.blocks[0].nanoseconds, 12.5);
  EXPECT_EQ(executed.blocks[1].bytes, std::string("\x90\xe8\0\0\0\0", 6));
  EXPECT_EQ(executed.blocks[1].file, "a.c");  // no folders of the host
  EXPECT_EQ(executed.blocks[1].address, 64u);
  EXPECT_EQ(executed.blocks[1].calls, 1u);
  EXPECT_EQ(executed.blocks[2].calls, 0u);
  ASSERT_EQ(executed.places.size(), 3u);
  EXPECT_EQ(executed.line_of(1, 1), (std::pair<std::string_view, std::uint32_t>{"a.c", 3}));
  EXPECT_EQ(executed.line_of(1, 3), (std::pair<std::string_view, std::uint32_t>{"b.h", 13}));
  EXPECT_EQ(executed.line_of(1, 4), (std::pair<std::string_view, std::uint32_t>{"a.c", 3}));
  EXPECT_EQ(executed.line_of(2, 1), (std::pair<std::string_view, std::uint32_t>{"b.h", 12}));
  ASSERT_EQ(executed.windows.size(), 1u);
  EXPECT_EQ(executed.windows[0].blocks, (std::vector<std::uint32_t>{2, 1}));
  EXPECT_EQ(executed.windows[0].times, (std::vector<std::uint32_t>{1, 3}));
  EXPECT_EQ(executed.host_hertz, 3e9);
  double executions = 0, mispredictions = 0;
  for (const CodeCount& count : executed.counts)
    if (count.block == 1) executions += count.executions, mispredictions += count.mispredictions;
  EXPECT_DOUBLE_EQ(executions, 44);
  EXPECT_DOUBLE_EQ(mispredictions, 3);
  double seen = 0, exponentials = 0, in_loops = 0, heap_calls = 0;
  for (const RegionCode& code : trace.code) {
    const bool is_loop = !code.region.is_none() && trace.regions[code.region.index()].kind == RegionKind::loop;
    if (code.function.empty()) {
      EXPECT_EQ(code.basis, InstructionBasis::counted);
      seen += code.instructions;
    } else if (code.function == "exp") {
      EXPECT_EQ(code.library, "libm.so.6");
      EXPECT_EQ(code.recorded, RecordedOfCall::nothing);
      EXPECT_EQ(code.basis, InstructionBasis::stepped);
      EXPECT_DOUBLE_EQ(code.instructions, 52 * code.calls);
      exponentials += code.calls;
      in_loops += is_loop ? code.calls : 0;
    } else {
      EXPECT_EQ(code.function, "operator_new");
      EXPECT_EQ(code.recorded, RecordedOfCall::heap);
      heap_calls += code.calls;
    }
  }
  EXPECT_DOUBLE_EQ(seen, 40300);
  EXPECT_DOUBLE_EQ(exponentials, 44);
  EXPECT_DOUBLE_EQ(in_loops, 40);
  EXPECT_DOUBLE_EQ(heap_calls, 6);
}

TEST_F(AssemblerEnds, TimesAreTheLeastOfTheRunsThatCameToTheirEnd) {
  const StreamWriter stream = two_sweeps();
  work_ = folder_ / "work";
  const auto times_of = [&](const std::vector<std::string>& runs) {
    std::ofstream file{work_};
    file << R"({"kind": "end"})"
         << "\n";
    for (const std::string& run : runs) file << run;
    file.close();
    assembled(stream);
    return TraceFile{folder_ / "trace.hnt"}.executed.times;
  };
  const auto line = [](const std::string& of, unsigned ordinal, double seconds) {
    return R"({"kind": "time", "of": ")" + of + R"(", "ordinal": )" + std::to_string(ordinal) + R"(, "nanoseconds": )" +
           std::to_string(std::llround(1e9 * seconds)) + "}\n";
  };
  const std::string begin = "{\"kind\": \"timing\"}\n", end = "{\"kind\": \"timed\"}\n";
  const auto run = [&](double first, double second) {
    return begin + line("serial", 0, 9) + line("parallel", 0, first) + line("serial", 1, 9) + line("parallel", 1, second) +
           line("serial", 2, 9);
  };
  const std::vector<MeasuredTime> times = times_of({run(0.5, 0.75) + end, run(0.25, 1) + end, run(0.0625, 0.0625)});
  const TraceFile trace{folder_ / "trace.hnt"};
  double of_loops = 0;
  for (const MeasuredTime& time : times)
    if (trace.regions[time.regions.front().index()].kind == RegionKind::loop) of_loops += time.seconds;
  EXPECT_EQ(of_loops, 0.25 + 0.75);
  EXPECT_TRUE(times_of({}).empty());
  // A construct was not timed: the program did something else.
  EXPECT_TRUE(times_of({begin + line("serial", 0, 9) + line("parallel", 0, 1) + line("serial", 1, 9) + end}).empty());
}

TEST_F(AssemblerEnds, AProgramThatWasAskedToEndIsTruncatedThoughItsStreamIsWhole) {
  StreamWriter stream;
  begin_grids(stream, a_address, b_address);
  jacobi(stream, 50, 0, a_address, b_address);
  stream.end();
  EXPECT_TRUE(assembled(stream)->complete);
  const std::uint64_t accesses = result_.accesses;
  EXPECT_FALSE(assembled(stream, true)->complete);
  EXPECT_FALSE(result_.complete);
  EXPECT_EQ(result_.accesses, accesses);
}

TEST_F(AssemblerEnds, ATruncatedTraceSaysWhy) {
  StreamWriter stream;
  begin_grids(stream, a_address, b_address);
  jacobi(stream, 50, 0, a_address, b_address);
  const auto reasons = [](const Workload& workload) {
    std::vector<std::string> found;
    for (const Loss& loss : workload.losses) found.push_back(loss.reason);
    return found;
  };
  using Reasons = std::vector<std::string>;
  EXPECT_EQ(reasons(*assembled(stream, false, "ended by signal 9")), Reasons{"truncated: ended by signal 9"});
  EXPECT_EQ(reasons(*assembled(stream)), Reasons{"truncated: the program did not reach its end"});
  // what the program said last, unless somebody had asked it to end
  stream.opcode(HN_LEAVING);
  stream.text("exec: it became another one");
  EXPECT_EQ(reasons(*assembled(stream, false, "exit code 0")), Reasons{"truncated: exec: it became another one"});
  EXPECT_EQ(reasons(*assembled(stream, true, "its time was over")), Reasons{"truncated: its time was over"});
  // it did not leave after all
  jacobi(stream, 50, 1, b_address, a_address);
  EXPECT_EQ(reasons(*assembled(stream, false, "ended by signal 9")), Reasons{"truncated: ended by signal 9"});
  stream.end();
  EXPECT_EQ(reasons(*assembled(stream, false, "exit code 0")), Reasons{});
}

TEST_F(AssemblerEnds, WhetherAProgramSaidAWordIsKnown) {
  StreamWriter nothing, greeting;
  assembled(nothing);
  EXPECT_FALSE(result_.has_begun);
  greeting.hello();
  assembled(greeting);
  EXPECT_TRUE(result_.has_begun);
}

TEST_F(AssemblerEnds, FinishedExecutionsAreInTheFileBeforeTheEnd) {
  constexpr std::uint64_t constructs = 800, iterations = 1000;  // more than 8 MB in all
  StreamWriter stream = scattered(constructs, iterations, 12);
  const std::string whole = [&] {
    StreamWriter ended = stream;
    ended.end();
    assembled(ended);
    return result_.content_hash;
  }();
  stream.opcode(120);  // the assembler goes no further
  EXPECT_THROW(assembled(stream), InputError);
  recover(folder_ / "trace.hnt.part", folder_ / "kept.hnt");
  const auto kept = open_trace(folder_ / "kept.hnt");
  std::uint64_t accesses = 0;
  for (const Execution& execution : kept->executions) accesses += execution.accesses;
  // what came since the last flush is lost, less than 4 MiB of more than 8: more than half is there
  EXPECT_GE(accesses, constructs * iterations / 2);
  ASSERT_EQ(kept->losses.size(), 1u);
  EXPECT_EQ(kept->losses[0].reason, "truncated: homenode capture was killed before it could finish the trace");
  EXPECT_FALSE(whole.empty());
}

TEST_F(AssemblerEnds, APartThatIsNoFileOfOnesOwnIsLeftAlone) {
  StreamWriter stream;
  stream.hello();
  stream.end();
  std::ofstream{folder_ / "victim"} << "kept";
  std::filesystem::create_symlink(folder_ / "victim", folder_ / "trace.hnt.part");
  EXPECT_THROW(assembled(stream), InputError);
  std::filesystem::remove(folder_ / "trace.hnt.part");
  std::filesystem::create_hard_link(folder_ / "victim", folder_ / "trace.hnt.part");
  EXPECT_THROW(assembled(stream), InputError);
  EXPECT_EQ(std::filesystem::file_size(folder_ / "victim"), 4u);
}

TEST_F(AssemblerEnds, AKilledProgramLeavesWhatArrived) {
  StreamWriter stream;
  begin_grids(stream, a_address, b_address);
  jacobi(stream, 50, 0, a_address, b_address);
  stream.cut(stream.bytes().size() / 2);
  const auto workload = assembled(stream);
  EXPECT_FALSE(workload->complete);
  EXPECT_FALSE(result_.complete);
  std::int64_t iterations = 0;
  for (const Execution& execution : workload->executions) iterations = std::max(iterations, execution.iterations);
  EXPECT_GT(iterations, 10);
  EXPECT_LT(iterations, 48);
}

TEST_F(AssemblerEnds, APartKeepsItsName) {
  StreamWriter stream;
  stream.hello();
  stream.end();
  AssembleOptions options;
  options.output = folder_ / "trace.hnt.part";
  options.program = "program";
  stream.send([&](int descriptor) { result_ = assemble(descriptor, options); });
  EXPECT_TRUE(open_trace(options.output)->complete);
  // one file, under the name that was asked for
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator{folder_}, {}), 1);
}

TEST_F(AssemblerEnds, WhatACaptureLeavesThatEndsInTheMiddleCanBeRecovered) {
  constexpr std::uint64_t constructs = 30, iterations = 4000;
  StreamWriter stream = scattered(constructs, iterations, 11);
  stream.opcode(120);  // the assembler goes no further, and does not finish the file
  EXPECT_THROW(assembled(stream), InputError);
  const std::filesystem::path part = folder_ / "trace.hnt.part", kept = folder_ / "kept.hnt";
  ASSERT_TRUE(std::filesystem::exists(part));
  EXPECT_THROW(open_trace(part), InputError);
  recover(part, kept);
  const auto workload = open_trace(kept);
  EXPECT_FALSE(workload->complete);
  std::uint64_t accesses = 0;
  for (const Execution& execution : workload->executions) accesses += execution.accesses;
  // one access an iteration: whole frames of them, at most all
  EXPECT_GT(accesses, iterations);
  EXPECT_LE(accesses, constructs * iterations);
}

TEST_F(AssemblerEnds, WorkOfACutStretchIsNotSpreadOverWhatArrivedOfIt) {
  StreamWriter stream;
  begin_grids(stream, a_address, b_address);
  stream.label("sweep");
  jacobi(stream, 50, 0, a_address, b_address);
  stream.label("sweep");
  const std::size_t whole = stream.bytes().size();
  jacobi(stream, 50, 1, b_address, a_address);
  stream.cut(whole + (stream.bytes().size() - whole) / 2);
  work_ = folder_ / "work";
  std::ofstream file{work_};
  for (const char* kind : {"serial", "parallel"}) {
    for (unsigned ordinal = 0; ordinal < 2; ++ordinal) {
      file << R"({"kind": ")" << kind << R"(", "ordinal": )" << ordinal << R"(, "instructions": 13824, "integer": 1, "fp_add": 2, )"
           << R"("fp_multiply": 3, "fp_fma": 4, "divide": 5, "load": 6, "store": 7, "branch": 8})"
           << "\n";
    }
  }
  file.close();
  const auto workload = assembled(stream);
  // 13824 instructions in the whole sweep of 6 * 48^2 accesses: one an access, also in the cut one
  for (std::size_t e = 0; e < workload->executions.size(); ++e) {
    if (workload->regions[workload->executions[e].region.index()].kind != RegionKind::loop) continue;
    for (const ItemBlock& block : workload->body(ExecutionId{e})->blocks) {
      const ItemPattern& pattern = workload->patterns[block.pattern.index()];
      EXPECT_NEAR(pattern.work.instructions, static_cast<double>(pattern.accesses), 1e-6);
    }
  }
}

}  // namespace
}  // namespace homenode
