#include "sim/program/footprint.hpp"

#include <gtest/gtest.h>

#include "sim/program/workload_builder.hpp"

namespace homenode::test {
namespace {

ItemPattern pattern_of(const std::vector<std::uint32_t>& counts, const std::function<std::vector<Reference>(ObjectId)>& references) {
  WorkloadBuilder builder;
  const ObjectId object = builder.object("array", 1 << 20);
  const RegionId region = builder.serial("region");
  builder.nest(region, counts, references(object));
  builder.repeat(region);
  return builder.build()->patterns.at(0);
}

TEST(Footprint, countsWhatIsTouchedOnceHoweverOftenTheLoopsComeBack) {
  // 100 passes over 512 doubles: 4 KiB are touched, 100 times 4 KiB gone over.
  const ItemPattern passes = pattern_of({512, 100}, [](ObjectId object) { return std::vector<Reference>{read(object, 0, {8, 0})}; });
  EXPECT_EQ(footprint_bytes(passes), 4096u);
  EXPECT_EQ(traversed_bytes(passes), 100 * 4096u);
}

TEST(Footprint, neighbouringOperandsAreTouchedOnce) {
  // a[i] and a[i + 1], 512 times: 513 doubles; each operand goes over 512 of them.
  const ItemPattern pair = pattern_of({512}, [](ObjectId object) {
    return std::vector<Reference>{read(object, 0, {8}), read(object, 8, {8})};
  });
  EXPECT_EQ(footprint_bytes(pair), 513 * 8u);
  EXPECT_EQ(traversed_bytes(pair), 2 * 4096u);
}

TEST(Footprint, aStrideBeyondALineGoesOverALineEach) {
  // 100 doubles 4096 bytes apart: 99 steps of a line and the last double.
  const ItemPattern column = pattern_of({100}, [](ObjectId object) { return std::vector<Reference>{read(object, 0, {4096})}; });
  EXPECT_EQ(traversed_bytes(column), 99 * 64u + 8);
}

}  // namespace
}  // namespace homenode::test
