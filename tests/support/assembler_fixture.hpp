// A folder of the test's own, and the trace that a stream of the runtime's messages becomes.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/stream_writer.hpp"
#include "traces/capture/assembler/assembler.hpp"
#include "traces/format/invariants.hpp"
#include "traces/format/trace_file.hpp"

namespace homenode::test {

class AssemblerFixture : public ::testing::Test {
protected:
  AssemblerFixture() {
    std::signal(SIGPIPE, SIG_IGN);
    const ::testing::TestInfo& test = *::testing::UnitTest::GetInstance()->current_test_info();
    const std::string name = std::string{test.test_suite_name()} + "-" + test.name();
    folder_ = std::filesystem::temp_directory_path() / ("homenode-" + name + "-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  ~AssemblerFixture() override { std::filesystem::remove_all(folder_); }
  std::shared_ptr<Workload> assembled(const StreamWriter& stream, bool asked_to_end = false, const std::string& why = "") {
    AssembleOptions options;
    options.output = folder_ / "trace.hnt";
    options.program = "program";
    options.work = work_;
    if (long_item_ > 0) options.long_item = long_item_;
    options.ending = [=] { return AssembleOptions::Ending{asked_to_end, why}; };
    stream.send([&](int descriptor) { result_ = assemble(descriptor, options); });
    auto workload = open_trace(options.output);
    EXPECT_EQ(broken_invariants(*workload), std::vector<std::string>{});
    return workload;
  }
  std::filesystem::path folder_, work_;
  AssembleResult result_;
  std::size_t long_item_ = 0;  // 0: as many as the assembler takes
};

}  // namespace homenode::test
