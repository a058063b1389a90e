// Accesses that fold into nothing: packed and taken back, and the stream that becomes of hundreds of thousands of them.
#include "traces/capture/assembler/loose_accesses.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "traces/capture/assembler/folding.hpp"

namespace homenode {
namespace {

bool operator==(const LooseAccess& a, const LooseAccess& b) {
  return a.object == b.object && a.distance == b.distance && a.offset == b.offset && a.sequence == b.sequence;
}

std::vector<LooseAccess> taken(LooseAccesses& loose) {
  std::vector<LooseAccess> found;
  loose.take_all([&](const LooseAccess& access) { found.push_back(access); });
  return found;
}

TEST(LooseAccesses, areTakenAsTheyCame) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(), most = std::numeric_limits<std::int64_t>::max();
  const std::vector<LooseAccess> given{{ObjectId{0u}, 0, 0, 0},
                                       {ObjectId::none(), ~std::uint32_t{0}, most, 1},
                                       {ObjectId{7u}, 3, least, 2},
                                       {ObjectId{7u}, 3, least, static_cast<std::uint64_t>(most)}};
  LooseAccesses loose;
  loose.append(given);
  EXPECT_EQ(loose.size(), given.size());
  EXPECT_TRUE(loose.in_order());
  EXPECT_EQ(loose.last_sequence(), static_cast<std::uint64_t>(most));
  EXPECT_TRUE(std::ranges::equal(taken(loose), given, [](auto& a, auto& b) { return a == b; }));
  EXPECT_TRUE(loose.empty());
  loose.append(given);  // again, from nothing
  EXPECT_TRUE(std::ranges::equal(taken(loose), given, [](auto& a, auto& b) { return a == b; }));
}

TEST(LooseAccesses, saysWhenOneCameLate) {
  LooseAccesses loose;
  const LooseAccess first{ObjectId{1u}, 0, 8, 5}, late{ObjectId{1u}, 0, 16, 4};
  loose.append(std::span{&first, 1});
  EXPECT_TRUE(loose.in_order());
  loose.append(std::span{&late, 1});
  EXPECT_FALSE(loose.in_order());
  const std::vector<LooseAccess> found = taken(loose);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(found[1] == late);
}

// Many enough for several chunks and for several folds of one site. Some come late, as pairs do that the runtime holds back.
class LooseStream : public ::testing::TestWithParam<std::size_t> {};

TEST_P(LooseStream, hasEveryAccessByItsSequence) {
  const std::size_t late = GetParam();
  constexpr std::size_t count = 2'500'000;
  std::mt19937_64 random{42};
  std::vector<LooseAccess> given(count);
  std::uint64_t sequence = 0;
  for (LooseAccess& access : given) {
    sequence += 1 + random() % 3;
    access = {ObjectId{static_cast<std::size_t>(random() % 3)}, static_cast<std::uint32_t>(random() % 5),
              static_cast<std::int64_t>(random() % (std::uint64_t{1} << 30)), sequence};
  }
  std::vector<LooseAccess> sent = given;
  if (late > 0)
    for (std::size_t i = 0; i + late < count; i += 10'007)
      std::rotate(sent.begin() + static_cast<std::ptrdiff_t>(i), sent.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                  sent.begin() + static_cast<std::ptrdiff_t>(i + late));
  ItemFolder folder;
  for (const LooseAccess& access : sent) {
    if (folder.add_single(0, access.object, access.distance, access.offset, access.sequence)) continue;
    PlacedRun placed{};
    placed.object = access.object;
    placed.run.width = 8;
    placed.run.producer_distance = access.distance;
    placed.run.offset = access.offset;
    placed.run.sequence = access.sequence;
    folder.add(0, placed);
  }
  Item item;
  folder.finish(item);
  ASSERT_TRUE(item.pattern.runs.empty());
  ASSERT_EQ(item.pattern.streams.size(), 1u);
  const IrregularStream& stream = item.pattern.streams.front();
  ASSERT_EQ(stream.sequence.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    const Item::Position& base = item.positions[stream.slot[i]];
    const LooseAccess found{base.object, stream.producer_distance[i], base.offset + stream.offset[i], stream.sequence[i]};
    ASSERT_TRUE(found == given[i]) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(ByHowLate, LooseStream, ::testing::Values(0, 100, 9000));

}  // namespace
}  // namespace homenode
