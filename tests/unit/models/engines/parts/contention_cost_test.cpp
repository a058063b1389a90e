// Times by hand: a line takes `local` from core to core of a socket, `remote` to the other one.
#include "models/engines/parts/contention_cost.hpp"

#include <gtest/gtest.h>

#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

class Cost {
public:
  Cost() : machine_{two_sockets()}, topology_{machine_} {
    machine_.core_to_core_local = Time::from_seconds(40e-9);
    machine_.core_to_core_shared_cache.reset();
    machine_.core_to_core_remote = Time::from_seconds(100e-9);
  }
  ContentionCost operator()(const Contention& contention, double alone) const {
    return contention_cost(contention, CoreId{0}, alone, machine_, topology_);
  }

private:
  Machine machine_;
  Topology topology_;
};

// A thousand updates beside as many by each of `others` cores, of the other socket if `remote`.
Contention of(double others, bool atomic, bool reads = true, bool remote = false) {
  Contention made;
  made.lines = 1;
  Contention::Updates one;
  (atomic ? one.atomic : one.plain) = 1000;
  one.plain_read = reads ? one.plain : 0;
  made.updates = one;
  made.late.add(one, others / (others + 1));
  made.busiest = made.late;
  for (unsigned i = 0; i < static_cast<unsigned>(others); ++i) made.writers.push_back({CoreId{remote ? 4 + i : 1 + i}, 1 / others});
  return made;
}

TEST(ContentionCost, ofRareAtomicAccessesIsATransferEach) {
  // An update a microsecond: 500 of 1000 come behind the other core's, each waits 40 ns; the line is under way as long.
  const ContentionCost cost = Cost{}(of(1, true), 1e-3);
  EXPECT_NEAR(cost.waits, 500 * 40e-9, 1e-12);
  EXPECT_NEAR(cost.line, 500 * 40e-9, 1e-12);
  EXPECT_NEAR(cost.handed, 500, 1e-9);
  EXPECT_EQ(cost.transfer, Time::from_seconds(40e-9));
  EXPECT_NEAR(Cost{}(of(1, true, true, true), 1e-3).waits, 500 * 100e-9, 1e-12);
}

TEST(ContentionCost, ofDenseAtomicAccessesComesInRuns) {
  // An update in 4 ns: ten of them until the other core's request is there, so 100 hand-overs, each of 40 ns and nine updates more.
  const ContentionCost two = Cost{}(of(1, true), 4e-6);
  EXPECT_NEAR(two.handed, 100, 1e-6);
  EXPECT_NEAR(two.waits, 100 * 40e-9, 1e-12);
  EXPECT_NEAR(two.line, 100 * (40e-9 + 9 * 4e-9), 1e-12);
  // Beside three cores the next request is there in a third of the time.
  const ContentionCost four = Cost{}(of(3, true), 4e-6);
  EXPECT_NEAR(four.handed, 300, 1e-6);
}

TEST(ContentionCost, ofPlainStoresIsThatOfAFullStoreBuffer) {
  // 42 stores wait in the buffer: 1000 / 42 hand-overs, and nobody waits for a line beyond that.
  const ContentionCost dense = Cost{}(of(1, false), 1e-6);
  EXPECT_NEAR(dense.handed, 1000.0 / 42, 1e-6);
  EXPECT_NEAR(dense.line, 1000.0 / 42 * 40e-9, 1e-12);
  // Rare ones each fetch the line; who only stores does not wait for it.
  EXPECT_NEAR(Cost{}(of(1, false), 1e-3).waits, 500 * 40e-9, 1e-12);
  EXPECT_EQ(Cost{}(of(1, false, false), 1e-3).waits, 0);
  EXPECT_NEAR(Cost{}(of(1, false, false), 1e-3).line, 500 * 40e-9, 1e-12);
}

TEST(ContentionCost, ofNothingContendedIsNothing) {
  EXPECT_FALSE(Cost{}({}, 1e-3).any());
  const ContentionCost idle = Cost{}(of(1, true), 0);  // no time of its own is known
  EXPECT_NEAR(idle.handed, 500, 1e-9);
}

}  // namespace
}  // namespace homenode::test
