#include "models/machines/machine_file.hpp"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <algorithm>
#include <fstream>

#include "models/machines/machine_changes.hpp"
#include "models/machines/machine_fields.hpp"
#include "models/machines/machine_writer.hpp"
#include "sim/base/errors.hpp"
#include "sim/machine/topology.hpp"
#include "tests/unit/models/machines/described_machine.hpp"

namespace homenode {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

MachineParameter parameter(const MachineFile& file, const std::string& path) {
  const auto found = std::find_if(file.parameters.begin(), file.parameters.end(), [&](const auto& p) { return p.path == path; });
  if (found == file.parameters.end()) throw std::logic_error("no parameter " + path);
  return *found;
}

TEST(MachineFile, ReadsEveryPart) {
  const MachineFile file = parse_machine(described_machine, "small.toml");
  const Machine& machine = file.machine;
  EXPECT_EQ(machine.name, "small");
  EXPECT_EQ(machine.sockets, 2u);
  EXPECT_EQ(machine.cores(), 4u);  // 2 nodes x 2 cores
  EXPECT_EQ(machine.node_of(CoreId{2}), NodeId{1});
  EXPECT_EQ(machine.nodes[1].latency, Time::nanoseconds(60));
  EXPECT_EQ(machine.caches[0].latency, Time::nanoseconds(2));                       // 4 cycles / 2 GHz
  EXPECT_DOUBLE_EQ(machine.caches[1].bandwidth_per_core.bytes_per_second(), 16e9);  // 8 B x 2 GHz
  EXPECT_EQ(machine.controllers[1].node, NodeId{1});
  ASSERT_EQ(machine.controllers[1].loaded_latency.size(), 2u);
  EXPECT_DOUBLE_EQ(machine.controllers[1].loaded_latency[0].utilisation, 0.5);
  EXPECT_EQ(machine.controllers[1].loaded_latency[1].extra, Time::nanoseconds(60));
  EXPECT_EQ(machine.links[0].to, SocketId{1});
  EXPECT_EQ(machine.snoop, SnoopMode::source);
  EXPECT_DOUBLE_EQ(machine.core.divide, 0.05);
  EXPECT_EQ(file.sources.at("T"), "this test");
}

TEST(MachineFile, KeepsWhereEachNumberComesFrom) {
  const MachineFile file = parse_machine(described_machine, "small.toml");
  EXPECT_EQ(parameter(file, "nodes.latency"), (MachineParameter{"nodes.latency", "60 ns", "T", "B", false, "50 ns", "70 ns", "a proxy"}));
  EXPECT_TRUE(parameter(file, "controllers.one_to_one").assumed);
  EXPECT_EQ(parameter(file, "links.between").value, "0-1");
  // what the file leaves out is homenode's own and says so
  EXPECT_EQ(parameter(file, "messages.data"), (MachineParameter{"messages.data", "72 B", "default of homenode", "", true, {}, {}, ""}));
}

TEST(MachineFile, AllowsNodesWithoutCoresSeveralNodesASocketAndMemorySideCaches) {
  const std::string text = with_line("[[nodes.controllers]]", R"(memory_side_cache = { value = "16 MiB", source = "T" }

[[nodes.controllers]]
read_only = { value = "20 GB/s", source = "T" }
one_to_one = { value = "16 GB/s", source = "T" }

[[nodes]]
sockets = [1]
per_socket = 2
cores = { value = 0, source = "T" }
memory = { value = "4 GiB", source = "T" }
latency = { value = "150 ns", source = "T" }

[[nodes.controllers]])");
  const MachineFile file = parse_machine(text, "small.toml");
  ASSERT_EQ(file.machine.nodes.size(), 4u);  // one on each socket, then two more on socket 1
  EXPECT_EQ(file.machine.nodes[0].memory_side_cache, Bytes{16 << 20});
  EXPECT_EQ(file.machine.nodes[3].memory_side_cache, std::nullopt);
  EXPECT_EQ(file.machine.socket_of(NodeId{3}), SocketId{1});
  EXPECT_THAT(file.machine.core_node, ElementsAre(NodeId{0}, NodeId{0}, NodeId{1}, NodeId{1}));
  EXPECT_EQ(parameter(file, "nodes.3.latency").value, "150 ns");
  EXPECT_EQ(parameter(file, "nodes.0.latency").value, "60 ns");
  // 150 ns from its own socket; one hop of 40 ns more from the other
  EXPECT_EQ(Topology{file.machine}.latency(NodeId{0}, NodeId{3}), Time::nanoseconds(150 + 40));
}

// A table behind the clock of the small machine.
std::string with_clocks(const std::string& value, const std::string& more = "") {
  return with_line("\n[sources]", "clock_by_cores = { value = " + value + ", source = \"T\"" + more + " }\n\n[sources]");
}

TEST(MachineFile, TellsClocksByCoresAndWritesThemBack) {
  const MachineFile plain = parse_machine(described_machine, "small.toml");
  EXPECT_TRUE(plain.machine.clock_by_cores.empty());
  EXPECT_EQ(write_machine_toml(plain.machine, plain.parameters, plain.sources).find("clock_by_cores"), std::string::npos);
  const MachineFile file =
      parse_machine(with_clocks(R"([[1, "3.5 GHz"], [2, "3 GHz"]])", R"(, low = [[1, "3.5 GHz"], [2, "2.4 GHz"]])"), "small.toml");
  ASSERT_EQ(file.machine.clock_by_cores.size(), 2U);
  EXPECT_EQ(file.machine.clock_by_cores[1].cores, 2U);
  EXPECT_EQ(file.machine.clock_by_cores[1].clock, Frequency::hertz(3e9));
  EXPECT_EQ(parameter(file, "clock_by_cores").value, "1: 3.5 GHz, 2: 3 GHz");
  EXPECT_NE(file.machine.hash, plain.machine.hash);
  const MachineFile again = parse_machine(write_machine_toml(file.machine, file.parameters, file.sources), "again.toml");
  EXPECT_EQ(again.machine.hash, file.machine.hash);
  EXPECT_EQ(parameter(again, "clock_by_cores").low, "1: 3.5 GHz, 2: 2.4 GHz");
}

TEST(MachineFile, TellsClocksByVectorWidthAndWritesThemBack) {
  const std::string narrow = R"(clock_by_cores = { value = [[1, "3.5 GHz"], [2, "3 GHz"]], source = "T" })";
  const auto table = [](const std::string& width, const std::string& clocks) {
    return "\nclock_by_cores_" + width + " = { value = " + clocks + ", source = \"T\", low = [[2, \"1 GHz\"]] }";
  };
  const std::string text = "\n" + narrow + table("256", R"([[2, "2.5 GHz"]])") + table("512", R"([[1, "2.4 GHz"], [2, "1.6 GHz"]])");
  const MachineFile file = parse_machine(with_line("\n[sources]", text + "\n\n[sources]"), "small.toml");
  EXPECT_EQ(file.machine.clock_of(2, VectorWidth::bits_256), Frequency::hertz(2.5e9));
  EXPECT_EQ(file.machine.clock_of(2, VectorWidth::bits_512), Frequency::hertz(1.6e9));
  EXPECT_EQ(parameter(file, "clock_by_cores_512").value, "1: 2.4 GHz, 2: 1.6 GHz");
  const MachineFile plain = parse_machine(with_line("\n[sources]", "\n" + narrow + "\n\n[sources]"), "small.toml");
  EXPECT_NE(file.machine.hash, plain.machine.hash);
  const MachineFile again = parse_machine(write_machine_toml(file.machine, file.parameters, file.sources), "again.toml");
  EXPECT_EQ(again.machine.hash, file.machine.hash);
  EXPECT_EQ(parameter(again, "clock_by_cores_256").low, "2: 1 GHz");
}

// A description without the tables has the hash that it had before there were any.
TEST(MachineFile, HasItsOldHashWithoutClocksByVectorWidth) {
  const MachineFile file = parse_machine(with_clocks(R"([[1, "3.5 GHz"], [2, "3 GHz"]])"), "small.toml");
  EXPECT_EQ(canonical_description(file.machine).find("clock_by_cores_"), std::string::npos);
  EXPECT_NE(canonical_description(file.machine).find("clock_by_cores = "), std::string::npos);
}

TEST(MachineFile, TellsWhoseClockACacheHas) {
  const std::string first = "latency = { value = \"4 cycles\", source = \"T\" }\n";
  const MachineFile file = parse_machine(with_line(first, first + "clock = { value = \"core\", source = \"T\" }\n"), "small.toml");
  EXPECT_EQ(file.machine.caches[0].clock, CacheClock::core);
  EXPECT_EQ(file.machine.caches[1].clock, CacheClock::own);
  const MachineFile again = parse_machine(write_machine_toml(file.machine, file.parameters, file.sources), "again.toml");
  EXPECT_EQ(again.machine.hash, file.machine.hash);
}

struct Mistake {
  std::string name, old_part, new_part, place, message, allowed, shown;
};
void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

class MachineFileRefuses : public testing::TestWithParam<Mistake> {};

TEST_P(MachineFileRefuses, ShowingTheLineWhatWasFoundAndWhatIsAllowed) {
  const Mistake& mistake = GetParam();
  const std::string text = with_line(mistake.old_part, mistake.new_part);
  EXPECT_THAT([&] { parse_machine(text, "bad.toml"); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("bad.toml:" + mistake.place), HasSubstr(mistake.message),
                                              HasSubstr("allowed: " + mistake.allowed), HasSubstr(mistake.shown))));
}

const Mistake mistakes[] = {
    {"NoToml", "name = \"small\"", "name = \"small", "2:14: ", "", "a TOML 1.0 document", "  name = \"small\n               ^"},
    {"UnknownKey", "memory = {", "memmory = {", "13:1: ", "unknown key 'memmory' in [[nodes]]", "sockets, per_socket, cores, memory",
     "  memmory = { value = \"1 GiB\", source = \"T\" }\n  ^"},
    {"UnknownKeyOfAValue", "value = \"1 GiB\"", "value = \"1 GiB\", sauce = \"T\"", "13:29: ", "unknown key 'sauce' in nodes.memory",
     "value, source, confidence, low, high, assumed, note", "^"},
    {"UnknownTable", "[core]", "[cores]", "43:2: ", "unknown key 'cores' in the machine", "schema, name", "  [cores]\n   ^"},
    {"UnknownKeyOfASection", "divide =", "division =", "46:1: ", "unknown key 'division' in [core]", "issue, integer", "  division = "},
    {"NoSource", "{ value = \"1 GiB\", source = \"T\" }", "{ value = \"1 GiB\" }", "13:10: ", "nodes.memory: 'source' is missing",
     "{ value = ..., source", "  memory = { value = \"1 GiB\" }\n           ^"},
    {"EmptySource", "{ value = \"1 GiB\", source = \"T\" }", "{ value = \"1 GiB\", source = \"\" }",
     "13:38: ", "nodes.memory: source is empty", "a text", "^"},
    {"BareNumber", "{ value = \"1 GiB\", source = \"T\" }", "\"1 GiB\"", "13:10: ", "nodes.memory is of the kind string",
     "{ value = ..., source", "every number needs its source"},
    {"NoValue", "value = \"1 GiB\", ", "", "13:10: ", "nodes.memory: 'value' is missing", "{ value = ...", "^"},
    {"MissingUnit", "\"60 ns\"", "\"60\"", "14:21: ", "nodes.latency: '60' is not a time: its unit is missing", "", "ps, ns, us, ms, s"},
    {"MissingUnitOfANumber", "\"60 ns\"", "60", "14:21: ", "nodes.latency: '60' is not a time: its unit is missing", "", "^"},
    {"WrongUnit", "\"60 ns\"", "\"60 GB/s\"", "14:21: ", "'GB/s' is no unit of it", "", "^"},
    {"NegativeSize", "\"1 GiB\"", "\"-1 GiB\"", "13:20: ", "nodes.memory: '-1 GiB' is not a size: it is negative", "",
     "  memory = { value = \"-1 GiB\""},
    {"NegativeWays", "value = 8,", "value = -8,", "24:18: ", "caches.1.ways: '-8' is not a whole number", "", "^"},
    {"ZeroLatency", "\"60 ns\", source = \"T\", confidence = \"B\", low = \"50 ns\"", "\"0 ns\", source = \"T\", confidence = \"B\"", " ",
     "the latency of node 0 is 0 ps", "more than 0 ns", ""},
    {"OutsideItsBounds", "\"60 ns\"", "\"80 ns\"", "14:11: ", "nodes.latency is 80 ns", "from low = 50 ns to high = 70 ns", "^"},
    {"UnknownConfidence", "confidence = \"B\"", "confidence = \"sure\"", "14:57: ", "confidence is 'sure'", "A, B, C, D, M", "^"},
    {"AssumedIsNoTruth", "assumed = true", "assumed = \"yes\"", "18:59: ", "assumed is of the kind string", "true, false", "^"},
    {"UnknownChoice", "value = \"source\"", "value = \"snoopy\"", "49:19: ", "coherence.snoop: 'snoopy' is unknown",
     "source, home, directory", "^"},
    {"SocketOutOfRange", "sockets = [0, 1]", "sockets = [0, 2]", "11:15: ", "nodes.sockets is 2", "0 to 1",
     "  sockets = [0, 2]\n                ^"},
    {"LetterWithoutQuotes", "[core]", "\xC3\xA9 = 1\n[core]", "43:1: ", "", "a TOML 1.0 document", "^"},
    {"SocketAgain", "sockets = [0, 1]", "sockets = [0, 0]", "11:15: ", "nodes.sockets names socket 0 again", "each once", "^"},
    {"TooManyNodes", "sockets = [0, 1]", "per_socket = 200\nsockets = [0, 1]", "12:15: ", "more than 254 nodes", "1 to 254", "^"},
    {"CyclesOfAge", "value = \"60 ns\"", "value = \"1e300 cycles\"", "14:21: ", "'1e300 cycles' is no time: it is too large", "", "^"},
    {"LinkOutOfRange", "[[0, 1]]", "[[0, 7]]", "39:26: ", "links.between is 7", "0 to 1", "^"},
    {"LinkIsNoPair", "[[0, 1]]", "[[0, 1, 1]]", "39:22: ", "a part that is no pair", "a list of pairs of sockets", "^"},
    {"PointIsNoPair", "[0.5, \"10 ns\"]", "0.5", "19:29: ", "controllers.loaded_latency: a point is", "[utilisation, \"extra time\"]", "^"},
    {"ClockIsNoPair", "\n[sources]", "clock_by_cores = { value = [1, \"3 GHz\"], source = \"T\" }\n\n[sources]",
     "6:29: ", "clock_by_cores: a point is", "[utilisation, \"extra time\"], or [cores, \"clock\"]", "^"},
    {"ClockWithoutUnit", "\n[sources]", "clock_by_cores = { value = [[1, 3]], source = \"T\" }\n\n[sources]",
     "6:28: ", "clock_by_cores: '3' is not a frequency: its unit is missing", "", "^"},
    {"ClockOfHalfACore", "\n[sources]", "clock_by_cores = { value = [[0.5, \"3 GHz\"]], source = \"T\" }\n\n[sources]",
     "6:28: ", "clock_by_cores: '0.5' is not a number of cores", "0 or more", "^"},
    {"ClockBelowBase", "\n[sources]", "clock_by_cores = { value = [[2, \"1 GHz\"]], source = \"T\" }\n\n[sources]", " ",
     "the clock with up to 2 cores at work is 1 GHz", "from 2 GHz, the base clock", ""},
    {"WideClockAboveNarrow", "\n[sources]", "clock_by_cores_512 = { value = [[2, \"2.1 GHz\"]], source = \"T\" }\n\n[sources]", " ",
     "the clock of clock_by_cores_512 with up to 2 cores at work is 2.1 GHz", "from 1 MHz to 2 GHz", ""},
    {"NoClock", "clock = { value = \"2 GHz\", source = \"T\", confidence = \"A\" }", "", "", "'clock' is missing", "{ value = ...", ""},
    {"NoSockets", "sockets = { value = 2, source = \"T\" }", "", "", "'sockets' is missing", "{ value = 2", ""},
    {"NoCoherence", "[coherence]", "", "", "unknown key 'core_to_core_local' in [core]", "", ""},
    {"NoName", "name = \"small\"\n", "", "", "'name' is missing", "a text", ""},
    {"OtherSchema", "machine/1", "trace/1", "1:10: ", "schema is 'homenode.trace/1'", "'homenode.machine/1'", "^"},
    {"FutureSchema", "machine/1", "machine/2", "1:10: ", "of another version of homenode", "'homenode.machine/1'", "^"},
    {"LevelOutOfRange", "level = 1", "level = 0", "22:9: ", "caches.level is 0", "1 to 8", "^"},
    {"UnreachableNode",
     "[[links]]\nbetween = { value = [[0, 1]], source = \"T\" }\nbandwidth = { value = \"9 GB/s\", source = \"T\" }\nlatency = { value = "
     "\"40 ns\", source = \"T\" }",
     "", " ", "socket 1 cannot be reached from socket 0", "links that join all sockets", ""},
};
INSTANTIATE_TEST_SUITE_P(All, MachineFileRefuses, testing::ValuesIn(mistakes), [](const auto& info) { return info.param.name; });

TEST(MachineFile, RefusesAFileThatIsNotThere) {
  EXPECT_THAT([] { load_machine("no/such.toml"); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("no/such.toml"), HasSubstr("cannot be read"))));
  EXPECT_THAT([] { load_machine("/"); }, ThrowsMessage<InputError>(HasSubstr("cannot be read")));
  EXPECT_THAT([] { load_machine("/dev/zero"); }, ThrowsMessage<InputError>(HasSubstr("cannot be read; allowed: a file")));  // has no end
  EXPECT_THAT([] { load_machine(std::string(5000, 'a')); }, ThrowsMessage<InputError>(HasSubstr("cannot be read")));
}

TEST(MachineFile, RefusesInLinesThatAScreenHolds) {
  const std::string megabyte(1 << 20, 'a');
  for (const std::string& text : {with_line("memory = {", megabyte + " = {"), with_line("\"60 ns\"", "\"" + megabyte + "\""),
                                  with_line("machine/1", megabyte), with_line("[links]", "[links]\n" + megabyte)}) {
    try {
      parse_machine(text, "bad.toml");
      ADD_FAILURE() << "not refused";
    } catch (const InputError& error) { EXPECT_LT(std::string{error.what()}.size(), 2000u); }
  }
}

TEST(MachineFile, TheHashTellsWhatDecidesTheBehaviour) {
  const std::string hash = parse_machine(described_machine, "a").machine.hash;
  EXPECT_EQ(hash.size(), 16u);
  // neither the name, nor the source, nor another way to write the same number changes it
  EXPECT_EQ(parse_machine(with_line("name = \"small\"", "name = \"other\""), "b").machine.hash, hash);
  EXPECT_EQ(parse_machine(with_line("value = \"60 ns\"", "value = \"0.06 us\""), "b").machine.hash, hash);
  EXPECT_EQ(parse_machine(with_line("T = \"this test\"", "T = \"that test\""), "b").machine.hash, hash);
  // every value does
  EXPECT_NE(parse_machine(with_line("value = \"60 ns\"", "value = \"61 ns\""), "b").machine.hash, hash);
  EXPECT_NE(parse_machine(with_line("value = \"source\"", "value = \"home\""), "b").machine.hash, hash);
  EXPECT_NE(parse_machine(with_line("[1.0, \"60 ns\"]", "[1.0, \"61 ns\"]"), "b").machine.hash, hash);
  EXPECT_NE(parse_machine(with_line("cores = { value = 2", "cores = { value = 4"), "b").machine.hash, hash);
}

class MachineSearch : public testing::Test {
protected:
  MachineSearch() {
    directory_ = std::filesystem::path{testing::TempDir()} /
                 ("machines-" + std::string{testing::UnitTest::GetInstance()->current_test_info()->name()});
    std::filesystem::create_directories(directory_ / "own");
    std::ofstream{directory_ / "small.toml"} << described_machine;
    std::ofstream{directory_ / "own" / "mine.toml"} << with_line("\"small\"", "\"mine\"");
    std::ofstream{directory_ / "notes.txt"} << "no machine";
  }
  ~MachineSearch() override {
    unsetenv("HOMENODE_MACHINE_PATH");
    std::filesystem::remove_all(directory_);
  }
  std::filesystem::path directory_;
};

TEST_F(MachineSearch, FindsMachinesByName) {
  EXPECT_THAT(machine_folders.names({directory_}), ElementsAre("small"));
  EXPECT_EQ(load_machine(machine_folders.find("small", {directory_})).name, "small");
}

TEST_F(MachineSearch, LooksFirstWhereTheEnvironmentSays) {
  setenv("HOMENODE_MACHINE_PATH", ("no/such/folder:" + (directory_ / "own").string()).c_str(), 1);
  EXPECT_THAT(machine_folders.names({directory_}), ElementsAre("mine", "small"));
  std::ofstream{directory_ / "own" / "small.toml"} << with_line("\"small\"", "\"small, changed\"");
  EXPECT_EQ(load_machine(machine_folders.find("small", {directory_})).name, "small, changed");
}

TEST_F(MachineSearch, RefusesUnknownNames) {
  EXPECT_THAT([&] { machine_folders.find("smal", {directory_}); },
              ThrowsMessage<UsageError>(AllOf(HasSubstr("unknown machine 'smal'"), HasSubstr("allowed: small"))));
  EXPECT_THAT([&] { machine_folders.find(std::string(5000, 'a'), {directory_}); },
              ThrowsMessage<UsageError>(HasSubstr("aaa…' (5000 characters); allowed")));
  EXPECT_THAT([&] { machine_folders.find("own/mine", {directory_}); }, ThrowsMessage<UsageError>(HasSubstr("unknown machine 'own/mine'")));
}

// What a machine's own operating system costs: parts of homenode.system/1 under [system].
TEST(MachineFile, ReadsWhatItsOwnSystemCosts) {
  const Machine without = parse_machine(described_machine, "small.toml").machine;
  EXPECT_FALSE(without.system.has_value());
  const MachineFile file =
      parse_machine(described_machine + "[system.faults]\nparallel = { value = \"1.2 us\", source = \"T\" }\n", "small.toml");
  ASSERT_TRUE(file.machine.system.has_value());
  EXPECT_EQ(file.machine.system->name, "small's own");
  EXPECT_EQ(file.machine.system->fault.parallel, Time::nanoseconds(1200));
  EXPECT_EQ(file.machine.system->migration.fixed, OperatingSystem{}.migration.fixed);  // what it does not say is the default
  EXPECT_NE(file.machine.hash, without.hash);
  const auto said = [&](const std::string& path) {
    return std::count_if(file.parameters.begin(), file.parameters.end(), [&](const auto& parameter) { return parameter.path == path; });
  };
  EXPECT_EQ(said("system.faults.parallel"), 1);
  EXPECT_EQ(said("system.faults.serial"), 0);  // nobody said it: no assumption of this machine
  EXPECT_EQ(said("core.read_bandwidth"), 0);
  EXPECT_EQ(with_changes(file.machine, {{"system.faults.parallel", "x2"}}).system->fault.parallel, Time::nanoseconds(2400));
}

TEST(MachineFile, RefusesWhatIsNoPartOfASystem) {
  EXPECT_THAT([] { parse_machine(described_machine + "[system.fault]\n", "small.toml"); },
              ThrowsMessage<InputError>(
                  HasSubstr("unknown key 'fault' in [system]; allowed: faults, mapping, migration, balancing, tasks, scheduler")));
  EXPECT_THAT([] { parse_machine("system = 3\n" + described_machine, "small.toml"); },
              ThrowsMessage<InputError>(HasSubstr("system is of the kind integer; allowed: [system.faults]")));
  EXPECT_THAT([] { parse_machine(described_machine + "[system.faults]\nparalel = { value = \"1 us\", source = \"T\" }\n", "small.toml"); },
              ThrowsMessage<InputError>(HasSubstr("unknown key 'paralel' in [system.faults]")));
}

}  // namespace
}  // namespace homenode
