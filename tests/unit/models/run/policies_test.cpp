#include "models/distribution/register.hpp"
#include "models/placement/register.hpp"
#include "models/run/distribution_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace homenode::test {
namespace {

using ::testing::HasSubstr;

template <class Call>
std::string usage_error(Call call) {
  try {
    call();
  } catch (const UsageError& error) { return error.what(); }
  return "nothing was thrown";
}

TEST(Policies, anUnknownNameListsWhatIsAllowed) {
  EXPECT_THAT(usage_error([] { page_placements().make("frist-touch"); }),
              HasSubstr("unknown placement 'frist-touch'; allowed: first-touch, interleave, bind"));
  EXPECT_THAT(usage_error([] { work_distributions().make("statik"); }), HasSubstr("allowed: static, dynamic, guided"));
}

TEST(Policies, parametersAreCheckedForNameAndRange) {
  EXPECT_THAT(usage_error([] { work_distributions().make("dynamic:0"); }), HasSubstr("chunk = '0' is not an integer of at least 1"));
  EXPECT_THAT(usage_error([] { work_distributions().make("dynamic:four"); }), HasSubstr("chunk = 'four'"));
  EXPECT_THAT(usage_error([] { work_distributions().make("dynamic:size=4"); }),
              HasSubstr("unknown parameter of distribution 'dynamic' 'size'; allowed: chunk"));
  EXPECT_THAT(usage_error([] { work_distributions().make("static:1,2"); }), HasSubstr("only the first value may stand without a key"));
  EXPECT_THAT(usage_error([] { page_placements().make("bind"); }), HasSubstr("needs its parameter node"));
  EXPECT_THAT(usage_error([] { page_placements().make("interleave:3"); }), HasSubstr("takes no parameters"));
  EXPECT_NO_THROW(work_distributions().make("dynamic:chunk=4"));
}

TEST(Policies, aParameterIsSetOnce) {
  EXPECT_THAT(usage_error([] { page_placements().make("bind:node=0,node=1"); }),
              HasSubstr("placement 'bind': node is set again to '1'; allowed: once"));
  EXPECT_THAT(usage_error([] { page_placements().make("bind:0,node=1"); }), HasSubstr("set again"));
}

TEST(DistributionPlan, namesRegionsByLabel) {
  const DistributionPlan plan{"init@static:1 sweep@dynamic:4 guided"};
  EXPECT_NO_THROW(plan.check_labels({"init", "sweep", "other"}));
  EXPECT_THAT(usage_error([&] { plan.check_labels({"init", "copy"}); }), HasSubstr("unknown region label 'sweep'; allowed: copy, init"));
  EXPECT_THAT(usage_error([] { DistributionPlan{"init@static init@dynamic"}; }), HasSubstr("region 'init' has two distributions"));
  EXPECT_THAT(usage_error([] { DistributionPlan{"static dynamic"}; }), HasSubstr("two distributions for all regions"));
  EXPECT_THAT(usage_error([] { DistributionPlan{"init@nothing"}; }), HasSubstr("unknown distribution 'nothing'"));
}

TEST(Guided, handsOutTheRemainderDividedByTheTeam) {
  Machine machine;
  machine.core_node = {NodeId{0}, NodeId{0}, NodeId{0}, NodeId{0}};
  machine.nodes = {{SocketId{0}, Bytes{1}, Time{}, {}}};
  const Team team{{CoreId{0}, CoreId{1}, CoreId{2}, CoreId{3}}, &machine};
  const auto guided = work_distributions().make("guided:2");
  guided->prepare({ExecutionId{0}, nullptr, 20}, team, nullptr);
  // ceil(20/4) = 5, ceil(15/4) = 4, ceil(11/4) = 3, ceil(8/4) = 2, then never less than 2.
  std::vector<std::int64_t> sizes;
  for (Decision d = guided->next(ThreadId{0}, Time{}); d.kind == Decision::Kind::run; d = guided->next(ThreadId{0}, Time{}))
    sizes.push_back(d.items.size());
  EXPECT_THAT(sizes, ::testing::ElementsAre(5, 4, 3, 2, 2, 2, 2));
}

}  // namespace
}  // namespace homenode::test
