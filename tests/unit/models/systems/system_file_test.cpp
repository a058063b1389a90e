#include "models/systems/system_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/errors.hpp"
#include "tests/support/source_folder.hpp"

namespace homenode::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

const std::filesystem::path shipped = test::source_folder() / "models" / "systems";

const std::string head = "schema = \"homenode.system/1\"\nname = \"mine\"\n";

auto refuses(const std::string& text, const std::string& message) {
  EXPECT_THAT([&] { parse_system(text, "mine.toml"); }, ThrowsMessage<InputError>(HasSubstr(message))) << text;
}

TEST(SystemFile, readsEachValueWithItsSource) {
  const SystemFile file = parse_system(head + R"(
description = "a system for tests"
[sources]
T = "a test"
[faults]
parallel = { value = "0.4 us", source = "T" }
serial = { value = "2 us", source = "T", confidence = "D", low = "1.8 us", high = "2.7 us" }
serial_transfers = { value = 3, source = "T" }
zeroing = { value = 0.5, source = "T" }
[balancing]
available = { value = 0, source = "T" }
[scheduler]
latency = { value = "5 ms", source = "T" }
busy_factor = { value = 16, source = "T" }
)",
                                       "mine.toml");
  EXPECT_EQ(file.system.name, "mine");
  EXPECT_EQ(file.system.fault.parallel, Time::nanoseconds(400));
  EXPECT_EQ(file.system.fault.serial, Time::nanoseconds(2000));
  EXPECT_EQ(file.system.fault.serial_transfers, 3);
  EXPECT_EQ(file.system.fault.zeroing, 0.5);
  EXPECT_EQ(file.system.balancing.available, 0u);
  EXPECT_EQ(file.sources.at("T"), "a test");
  EXPECT_EQ(file.system.scheduler.latency, Time::from_seconds(5e-3));
  EXPECT_EQ(file.system.scheduler.busy_factor, 16);
  ASSERT_EQ(file.parameters.size(), 35u);
  EXPECT_EQ(file.parameters[1].path, "faults.serial");
  EXPECT_EQ(file.parameters[1].high, "2.7 us");
  EXPECT_TRUE(file.parameters[4].assumed);  // mapping.call: left out
}

TEST(SystemFile, refusesWhatItDoesNotKnowWithTheUsersLine) {
  refuses("name = \"mine\"\n", "'schema' is missing");
  refuses("schema = \"homenode.machine/1\"\n", "mine.toml:1:10: schema is 'homenode.machine/1'; allowed: 'homenode.system/1'");
  refuses("schema = \"homenode.system/2\"\n", "of another version of homenode; allowed: 'homenode.system/1'");
  refuses("schema = \"homenode.system/1\"\n", "'name' is missing");
  refuses(head + "[balancing]\nkernel = { value = 2, source = \"T\" }\n",
          "mine.toml:4:10: balancing.kernel is 2; allowed: 100 x major + minor");
  refuses(head + "faults = 3\n", "faults is of the kind integer");
  refuses(head + "[fault]\n", "mine.toml:3:2: unknown key 'fault' in the system; allowed: schema, name, description, sources, faults");
  refuses(head + "[faults]\nparalel = { value = \"1 us\", source = \"T\" }\n",
          "unknown key 'paralel' in [faults]; allowed: parallel, serial");
  refuses(head + "[faults]\nserial = { value = \"1 us\" }\n", "faults.serial: 'source' is missing");
  refuses(head + "[faults]\nserial = \"1 us\"\n", "every number needs its source");
  refuses(head + "[faults]\nserial = { value = \"1 KiB\", source = \"T\" }\n", "mine.toml:4:20: faults.serial");
  refuses(head + "[faults]\nserial = { value = \"4 cycles\", source = \"T\" }\n", "is in cycles of no clock");
  refuses(head + "[faults]\nserial = { value = \"-1 us\", source = \"T\" }\n", "faults.serial");
  refuses(head + "[faults]\nserial = { value = \"3 us\", source = \"T\", high = \"2 us\" }\n", "to high = 2 us");
  refuses(head + "[faults]\nzeroing = { value = 1.5, source = \"T\" }\n", "mine.toml:4:11: faults.zeroing is above 1; allowed: 0 to 1");
  refuses(head + "[mapping]\nexcludes_faults = { value = 2, source = \"T\" }\n", "mapping.excludes_faults is above 1");
  refuses(head + "[balancing]\navailable = { value = 2, source = \"T\" }\n", "balancing.available is above 1");
  refuses(head + "[scheduler]\nnew_by_idle_cores = { value = 2, source = \"T\" }\n", "scheduler.new_by_idle_cores is above 1");
}

TEST(SystemFile, defaultIsWhatAReplayTakesByItself) {
  const OperatingSystem described = read_system_file(shipped / "default.toml").system, built_in;
  EXPECT_EQ(described.name, built_in.name);
  EXPECT_EQ(described.fault.parallel, built_in.fault.parallel);
  EXPECT_EQ(described.fault.serial, built_in.fault.serial);
  EXPECT_EQ(described.fault.serial_transfers, built_in.fault.serial_transfers);
  EXPECT_EQ(described.fault.zeroing, built_in.fault.zeroing);
  EXPECT_EQ(described.mapping.call, built_in.mapping.call);
  EXPECT_EQ(described.mapping.page, built_in.mapping.page);
  EXPECT_EQ(described.mapping.shootdown, built_in.mapping.shootdown);
  EXPECT_EQ(described.mapping.shootdown_core, built_in.mapping.shootdown_core);
  EXPECT_EQ(described.mapping.excludes_faults, built_in.mapping.excludes_faults);
  EXPECT_EQ(described.mapping.releases_exclusively, built_in.mapping.releases_exclusively);
  EXPECT_EQ(described.migration.fixed, built_in.migration.fixed);
  EXPECT_EQ(described.migration.shootdown, built_in.migration.shootdown);
  EXPECT_EQ(described.balancing.available, built_in.balancing.available);
  EXPECT_EQ(described.balancing.hinting_fault, built_in.balancing.hinting_fault);
  EXPECT_EQ(described.balancing.scan, built_in.balancing.scan);
  EXPECT_EQ(described.scheduler.new_by_idle_cores, built_in.scheduler.new_by_idle_cores);
}

TEST(SystemFile, eachShippedOneIsReadAndNamesItsSources) {
  const std::vector<std::string> names = system_folders.names({shipped});
  EXPECT_THAT(names, testing::IsSupersetOf({"default", "linux-2.6.32", "linux-3.10", "linux-4.4", "linux-6.1"}));
  for (const std::string& name : names) {
    const SystemFile file = read_system_file(system_folders.find(name, {shipped}));
    EXPECT_EQ(file.system.name, name);
    for (const MachineParameter& parameter : file.parameters)
      EXPECT_TRUE(file.sources.contains(parameter.source)) << name << " " << parameter.path << " has source " << parameter.source;
  }
  EXPECT_EQ(read_system_file(shipped / "linux-2.6.32.toml").system.balancing.available, 0u);
  EXPECT_THAT([&] { system_folders.find("linux-6", {shipped}); },
              ThrowsMessage<UsageError>(AllOf(HasSubstr("unknown system 'linux-6'"), HasSubstr("allowed: linux-6.1"))));
}

}  // namespace
}  // namespace homenode::test
