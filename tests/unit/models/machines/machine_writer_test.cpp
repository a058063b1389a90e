#include "models/machines/machine_writer.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/support/source_folder.hpp"
#include "tests/unit/models/machines/described_machine.hpp"

namespace homenode {
namespace {

const std::filesystem::path folder = test::source_folder() / "models" / "machines";

// read(write(m)) = m, and what is known about each number survives, node by node where the file described several at once.
void expect_round_trip(const MachineFile& file) {
  const std::string text = write_machine_toml(file.machine, file.parameters, file.sources);
  const MachineFile again = parse_machine(text, "again.toml");
  EXPECT_EQ(again.machine.hash, file.machine.hash);
  EXPECT_EQ(again.machine.name, file.machine.name);
  EXPECT_EQ(again.machine.description, file.machine.description);
  EXPECT_EQ(again.sources, file.sources);
  for (const MachineParameter& parameter : file.parameters) {
    const auto first = parameter.path.find('.');
    const auto numbered =
        first == std::string::npos ? parameter.path : parameter.path.substr(0, first) + ".0" + parameter.path.substr(first);
    const auto found = std::find_if(again.parameters.begin(), again.parameters.end(),
                                    [&](const MachineParameter& other) { return other.path == parameter.path || other.path == numbered; });
    ASSERT_NE(found, again.parameters.end()) << parameter.path;
    MachineParameter expected = parameter;
    expected.path = found->path;
    if (parameter.path == "links.between") expected.value = found->value;  // one pair at a time
    EXPECT_EQ(*found, expected) << parameter.path;
  }
  EXPECT_EQ(write_machine_toml(again.machine, again.parameters, again.sources), text);
}

TEST(MachineWriter, WritesWhatReadsBackTheSame) {
  expect_round_trip(parse_machine(described_machine, "small.toml"));
  expect_round_trip(parse_machine(with_line("a proxy", "said \\\"so\\\" \\\\ twice"), "small.toml"));
}

TEST(MachineWriter, WritesWhatAMachineKnowsOfItsOwnSystem) {
  const std::string own =
      "\n[system.faults]\nparallel = { value = \"1.2 us\", source = \"T\", confidence = \"A\", low = \"1.1 us\" }\n"
      "huge = { value = \"70 us\", source = \"T\" }\n";
  const MachineFile file = parse_machine(described_machine + own, "small.toml");
  expect_round_trip(file);
  // without what is known: the values still
  const MachineFile bare = parse_machine(write_machine_toml(file.machine, {}), "bare.toml");
  EXPECT_EQ(bare.machine.hash, file.machine.hash);
  Machine plain = parse_machine(described_machine, "small.toml").machine;
  plain.system.emplace();
  EXPECT_TRUE(parse_machine(write_machine_toml(plain, {}), "plain.toml").machine.system.has_value());
}

TEST(MachineWriter, WritesTheCoresModel) {
  const std::string divide = "divide = { value = 0.05, source = \"T\" }";
  const MachineFile with =
      parse_machine(with_line(divide, divide + "\nllvm_cpu = { value = \"znver3\", source = \"T\", confidence = \"A\" }"), "small.toml");
  EXPECT_EQ(with.machine.core.llvm_cpu, "znver3");
  expect_round_trip(with);
  // None is nothing that is known or assumed, and is not written.
  const MachineFile without = parse_machine(described_machine, "small.toml");
  EXPECT_EQ(without.machine.core.llvm_cpu, "");
  EXPECT_EQ(without.parameters.size() + 1, with.parameters.size());
  EXPECT_THAT(write_machine_toml(without.machine, without.parameters, without.sources), testing::Not(testing::HasSubstr("llvm_cpu")));
}

TEST(MachineWriter, WritesThePapersMachines) {
  for (const std::string& name : machine_folders.names({folder})) {
    SCOPED_TRACE(name);
    expect_round_trip(read_machine_file(folder / (name + ".toml")));
  }
}

TEST(MachineWriter, SaysWhenASourceIsNotStated) {
  const Machine machine = parse_machine(described_machine, "small.toml").machine;
  const MachineFile again = parse_machine(write_machine_toml(machine, {}), "again.toml");
  EXPECT_EQ(again.machine.hash, machine.hash);
  for (const MachineParameter& parameter : again.parameters)
    EXPECT_TRUE(parameter.source == "not stated" || parameter.source == "default of homenode") << parameter.path;
}

}  // namespace
}  // namespace homenode
