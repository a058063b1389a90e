#include "sim/base/units.hpp"

#include <gmock/gmock.h>

#include "sim/base/errors.hpp"

namespace homenode {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Units, ReadsNumbersWithTheirUnit) {
  EXPECT_EQ(parse_time("66 ns"), Time::picoseconds(66000));    // 66 ns = 66 * 10^3 ps
  EXPECT_EQ(parse_time("1.5us"), Time::picoseconds(1500000));  // the blank may be left out
  EXPECT_EQ(parse_bytes("24 MiB"), Bytes{24 * 1024 * 1024});   // MiB = 2^20 B
  EXPECT_EQ(parse_bytes("24 MB"), Bytes{24000000});            // MB = 10^6 B
  EXPECT_DOUBLE_EQ(parse_bandwidth("12.8 GB/s").bytes_per_second(), 12.8e9);
  EXPECT_DOUBLE_EQ(parse_bandwidth("1 GiB/s").bytes_per_second(), 1073741824.0);
  EXPECT_DOUBLE_EQ(parse_frequency("2.66 GHz").hertz(), 2.66e9);
}

TEST(Units, RefusesWhatIsNoQuantity) {
  EXPECT_THAT([] { parse_time("5"); },
              ThrowsMessage<UnitError>(AllOf(HasSubstr("'5'"), HasSubstr("unit is missing"), HasSubstr("ps, ns, us, ms, s"))));
  EXPECT_THAT([] { parse_time("-5 ns"); }, ThrowsMessage<UnitError>(HasSubstr("negative")));
  EXPECT_THAT([] { parse_time("-0 ns"); }, ThrowsMessage<UnitError>(HasSubstr("negative")));
  EXPECT_THAT([] { parse_time("soon"); }, ThrowsMessage<UnitError>(HasSubstr("does not start with a number")));
  EXPECT_THAT([] { parse_time(""); }, ThrowsMessage<UnitError>(HasSubstr("does not start with a number")));
  EXPECT_THAT([] { parse_time("nan ns"); }, ThrowsMessage<UnitError>(HasSubstr("does not start with a number")));
  EXPECT_THAT([] { parse_time("1e30 s"); }, ThrowsMessage<UnitError>(HasSubstr("too large")));
  EXPECT_THAT([] { parse_bytes("24 MHz"); }, ThrowsMessage<UnitError>(AllOf(HasSubstr("'MHz' is no unit"), HasSubstr("MiB"))));
  EXPECT_THAT([] { parse_bytes("0.3 B"); }, ThrowsMessage<UnitError>(HasSubstr("whole number of bytes")));
  EXPECT_THAT([] { parse_bandwidth("12.8 GB"); }, ThrowsMessage<UnitError>(HasSubstr("GB/s")));
  EXPECT_THAT([] { parse_frequency("2.66 GB/s"); }, ThrowsMessage<UnitError>(HasSubstr("GHz")));
}

TEST(Units, WritesTheLargestUnitThatReadsBackTheSame) {
  EXPECT_EQ(to_string(Time::picoseconds(66000)), "66 ns");
  EXPECT_EQ(to_string(Time::picoseconds(37600)), "37.6 ns");
  EXPECT_EQ(to_string(Bytes{5118 * 1024}), "5118 KiB");
  EXPECT_EQ(to_string(Bytes{0}), "0 B");
  EXPECT_EQ(to_string(Bandwidth::bytes_per_second(12.8e9)), "12.8 GB/s");
  EXPECT_EQ(to_string(Frequency::hertz(2.66e9)), "2.66 GHz");
}

TEST(Units, WritesTheLeastIntegerThatHasNoOpposite) {
  EXPECT_EQ(to_string(Time::picoseconds(INT64_MIN)), "-9223372036854775808 ps");
  EXPECT_EQ(to_string(Bytes{INT64_MIN}), "-9223372036854775808 B");
  EXPECT_EQ(to_string(Time::picoseconds(-66000)), "-66 ns");
  EXPECT_THAT(to_string(Time::max()), HasSubstr("9223372"));  // shorter numbers round to more than there can be
}

TEST(Units, EveryWrittenQuantityReadsBackExactly) {
  // read(write(x)) = x, bit for bit; samples of a linear congruence over all magnitudes.
  std::uint64_t sample = 1;
  for (int round = 0; round < 2000; ++round) {
    sample = sample * 6364136223846793005u + 1442695040888963407u;
    const auto count = static_cast<std::int64_t>(sample >> (1 + sample % 60));
    EXPECT_EQ(parse_time(to_string(Time::picoseconds(count % (std::int64_t{1} << 52)))),
              Time::picoseconds(count % (std::int64_t{1} << 52)));
    EXPECT_EQ(parse_bytes(to_string(Bytes{count % (std::int64_t{1} << 52)})), Bytes{count % (std::int64_t{1} << 52)});
    const Bandwidth bandwidth = Bandwidth::bytes_per_second(static_cast<double>(count) / 7);
    EXPECT_EQ(parse_bandwidth(to_string(bandwidth)), bandwidth);
    const Frequency frequency = Frequency::hertz(static_cast<double>(count) / 3);
    EXPECT_EQ(parse_frequency(to_string(frequency)), frequency);
  }
}

TEST(Units, ASizeOverABandwidthIsATime) {
  // 64 B / 12.8 GB/s = 5 ns
  EXPECT_EQ(Bytes{64} / Bandwidth::bytes_per_second(12.8e9), Time::picoseconds(5000));
  // 175 cycles / 2.66 GHz = 65.789 ns
  EXPECT_EQ(cycles_to_time(175, Frequency::hertz(2.66e9)), Time::picoseconds(65789));
}

}  // namespace
}  // namespace homenode
