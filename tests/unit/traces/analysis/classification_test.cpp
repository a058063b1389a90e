// S3, section 3, rule by rule, on trees drawn by hand.
#include "traces/analysis/classification.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace homenode::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto possible = Certainty::possible;
constexpr auto certain = Certainty::certain;

// main creates 1 and 2.
const std::vector<GenerationNode> two_sons = {{}, {0}, {0}};
// main creates 1, 1 creates 2, main creates 3.
const std::vector<GenerationNode> grandson = {{}, {0}, {1}, {0}};

std::vector<ThreadType> types(const std::vector<GenerationNode>& tree, const std::vector<Dependence>& dependences,
                              Certainty least = possible) {
  std::vector<ThreadType> result;
  for (const auto& thread : classify(tree, dependences, least)) result.push_back(thread.type);
  return result;
}

TEST(Classification, NoDependenceIsAutonomous) {
  EXPECT_THAT(types(two_sons, {}), ElementsAre(ThreadType::main, ThreadType::autonomous, ThreadType::autonomous));
}

TEST(Classification, WhatOneWritesAndAnotherReadsMakesBothSideBySide) {
  // 1 writes what 2 reads: neither is autonomous, each names the other.
  const auto found = classify(two_sons, {{1, 2, certain}}, possible);
  EXPECT_EQ(found[1].type, ThreadType::side_by_side);
  EXPECT_EQ(found[2].type, ThreadType::side_by_side);
  EXPECT_THAT(found[1].partners, ElementsAre(Partner{2, certain}));
  EXPECT_THAT(found[2].partners, ElementsAre(Partner{1, certain}));
}

TEST(Classification, SideBySideIsNotTransitive) {
  // 1 - 2 and 2 - 3: 3 is not side by side with 1.
  const auto found = classify({{}, {0}, {0}, {0}}, {{1, 2, certain}, {2, 3, certain}}, possible);
  EXPECT_THAT(found[1].partners, ElementsAre(Partner{2, certain}));
  EXPECT_THAT(found[2].partners, ElementsAre(Partner{1, certain}, Partner{3, certain}));
  EXPECT_THAT(found[3].partners, ElementsAre(Partner{2, certain}));
}

TEST(Classification, AnyTwoThreadsCanBeSideBySideWhereverTheyStand) {
  // 2, made by 1, writes what its uncle 3 reads.
  EXPECT_THAT(types(grandson, {{2, 3, certain}}),
              ElementsAre(ThreadType::main, ThreadType::autonomous, ThreadType::side_by_side, ThreadType::side_by_side));
}

TEST(Classification, OnlyTheGeneratorIsPostponed) {
  // either way round
  EXPECT_EQ(types(two_sons, {{0, 1, certain}})[1], ThreadType::postponed);
  EXPECT_EQ(types(two_sons, {{1, 0, certain}})[1], ThreadType::postponed);
  // the brother stays autonomous
  EXPECT_EQ(types(two_sons, {{0, 1, certain}})[2], ThreadType::autonomous);
}

TEST(Classification, AnotherThanTheGeneratorIsNotPostponed) {
  // 2's generator is 1; it depends on the main thread
  EXPECT_EQ(types({{}, {0}, {1}, {1}}, {{0, 2, certain}})[2], ThreadType::side_by_side);
}

TEST(Classification, APostponedThreadWritesNothingThatItsLevelOrALowerOneReads) {
  // same level
  EXPECT_EQ(types(two_sons, {{0, 1, certain}, {1, 2, certain}})[1], ThreadType::side_by_side);
  // lower level: its own son
  EXPECT_EQ(types(grandson, {{0, 1, certain}, {1, 2, certain}})[1], ThreadType::side_by_side);
}

TEST(Classification, PostponedWithoutABrotherIsSideBySide) {
  const auto found = classify({{}, {0}}, {{0, 1, certain}}, possible);
  EXPECT_EQ(found[1].type, ThreadType::side_by_side);
  EXPECT_THAT(found[1].partners, ElementsAre(Partner{0, certain}));
  // a cousin is no brother: 2 below 1, 4 below 3
  EXPECT_EQ(types({{}, {0}, {1}, {0}, {3}}, {{1, 2, certain}})[2], ThreadType::side_by_side);
}

TEST(Classification, ThreadsOfOneLoopAreBrothersAndCanDependOnEachOther) {
  const std::vector<GenerationNode> loop = {{}, {0, true}};
  EXPECT_EQ(types(loop, {})[1], ThreadType::autonomous);
  EXPECT_EQ(types(loop, {{0, 1, certain}})[1], ThreadType::postponed);
  EXPECT_EQ(types(loop, {{1, 1, certain}})[1], ThreadType::side_by_side);
  EXPECT_THAT(classify(loop, {{1, 1, certain}}, possible)[1].partners, ElementsAre(Partner{1, certain}));
}

TEST(Classification, CertainDependencesAloneGiveAnotherType) {
  const std::vector<Dependence> dependences = {{1, 2, possible}, {0, 1, certain}};
  EXPECT_EQ(types(two_sons, dependences, possible)[1], ThreadType::side_by_side);
  EXPECT_EQ(types(two_sons, dependences, certain)[1], ThreadType::postponed);
  EXPECT_EQ(types(two_sons, dependences, certain)[2], ThreadType::autonomous);
}

TEST(Classification, APairIsAsCertainAsItsMostCertainDependence) {
  const auto found = classify(two_sons, {{1, 2, possible}, {2, 1, certain}, {1, 2, possible}}, possible);
  EXPECT_THAT(found[1].partners, ElementsAre(Partner{2, certain}));
}

TEST(CommunicationTree, AutonomousAndPostponedThreadsAreSonsOfTheirGenerators) {
  const auto found = classify(grandson, {{1, 2, certain}, {0, 3, certain}}, possible);
  EXPECT_THAT(found[0].communicates_below, IsEmpty());
  EXPECT_EQ(found[3].type, ThreadType::postponed);
  EXPECT_THAT(found[3].communicates_below, ElementsAre(0));
  EXPECT_THAT(classify(grandson, {}, possible)[2].communicates_below, ElementsAre(1));
}

TEST(CommunicationTree, SideBySideThreadsAreSonsOfAllTheyBelongWithThatAreInTheTree) {
  // 3 belongs with 1 and 2, both in the tree; 1 was the first and stands below its generator.
  const auto found = classify({{}, {0}, {0}, {0}}, {{1, 3, certain}, {3, 2, certain}}, possible);
  EXPECT_THAT(found[1].communicates_below, ElementsAre(0));
  EXPECT_THAT(found[2].communicates_below, ElementsAre(0));
  EXPECT_THAT(found[3].communicates_below, ElementsAre(1, 2));
}

}  // namespace
}  // namespace homenode::analysis
