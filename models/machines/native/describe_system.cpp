#include "models/machines/native/describe_system.hpp"

#include <algorithm>
#include <cmath>

#include "models/machines/native/estimators.hpp"

namespace homenode {
namespace {

using native::Spread;

// "627 ns"; three digits.
std::string nanoseconds(const Spread& spread) { return std::to_string(std::lround(spread.value)) + " ns"; }

void faults(DescribedFields& fields, const HostFigures& host) {
  const Spread alone = host.of(figure::fault);
  if (alone.passes == 0) return;
  const auto threads = static_cast<unsigned>(host.plan.threads.back());
  const Spread together = threads > 1 ? host.of(figure::contended_fault) : Spread{};
  const native::FaultSplit split =
      threads > 1 ? native::split_fault(alone.value, together.value, threads) : native::FaultSplit{alone.value};
  const double serial_share = threads > 1 && together.value > 0 ? split.serial / together.value : 0;
  Spread serial = mapped(resting_on(together, alone), [&](double time) { return serial_share * time; });
  // Each interval is for the other part as it is stated: the sum of both is known better than how it splits, and samples draw each by
  // itself.
  serial.low = std::min(split.serial, std::max(serial.low, alone.low - split.parallel));
  serial.high = split.serial == 0 ? split.most_serial : std::max(split.serial, std::min(serial.high, alone.high));
  Spread parallel = resting_on(alone, together);
  parallel.value = parallel.median = split.parallel;
  parallel.low = std::min(split.parallel, std::max(0.0, alone.low - split.serial));
  parallel.high = std::max(split.parallel, alone.high - split.serial);
  fields.set("system.faults.parallel", parallel, DescribedFields::time_text,
             "a write to a fresh page of 4 KiB, one of " + to_string(Bytes{static_cast<std::int64_t>(host.plan.warm_memory.many)}) +
                 " of new memory, " + nanoseconds(alone) +
                 " with its zeroing, less the serial part; the same page again after "
                 "it was given back " +
                 nanoseconds(host.of(figure::rewrite_fault)) + ", a read, which places and zeroes none, " +
                 nanoseconds(host.of(figure::read_fault)) + "; a load of one of its lines right after, " +
                 nanoseconds(host.of(figure::fresh_line)));
  if (Spread cold = host.of(figure::cold_fault); cold.passes != 0) {
    cold = mapped(cold, [&](double time) { return std::max(split.parallel, time - split.serial); });
    fields.set("system.faults.cold", cold, DescribedFields::time_text,
               "as `parallel`, a page of more new memory than the last level holds, " +
                   to_string(Bytes{static_cast<std::int64_t>(host.plan.cold_memory.few)}) + " and more");
  }
  if (threads < 2) return;
  fields.set("system.faults.serial", serial, DescribedFields::time_text,
             std::to_string(threads) + " threads that fault at once take " + nanoseconds(together) + " each" +
                 (split.serial > 0 ? ": they queue" : ", hardly more than alone: no queue is seen, a longer one is possible"));
}

void scheduler(DescribedFields& fields, const HostFigures& host) {
  if (const Spread spread = host.of(figure::context_switch); spread.passes != 0)
    fields.set("system.scheduler.context_switch", spread, DescribedFields::time_text,
               "half a round trip through pipes of two threads on one CPU, less the calls");
  std::vector<native::WakeupPoint> median, low, high;
  Spread doubt;
  for (const double idle : host.plan.idle_microseconds) {
    const Spread spread = host.of(figure::wakeup(idle));
    if (spread.passes == 0) return;
    doubt = resting_on(doubt, spread);
    median.push_back({idle, spread.value});
    low.push_back({idle, spread.low});
    high.push_back({idle, spread.high});
  }
  if (median.empty()) return;
  const native::Wakeups found = native::wakeups(median);
  const auto set = [&](const std::string& name, double value, double least, double most, const std::string& note) {
    Spread spread = doubt;
    spread.value = spread.median = value;
    spread.low = std::min(least, value);
    spread.high = std::max(most, value);
    fields.set("system.scheduler." + name, spread, DescribedFields::time_text, note);
  };
  const auto idle_text = [](double microseconds) { return std::to_string(std::lround(microseconds)) + " us"; };
  set("wakeup", found.shallow, low.front().nanoseconds, high.front().nanoseconds,
      "from the call to the first instruction, after " + idle_text(median.front().idle_microseconds) + " of idling");
  set("deep_wakeup", found.deep, std::max(low.back().nanoseconds, found.shallow), high.back().nanoseconds,
      found.residency ? "after " + idle_text(median.back().idle_microseconds) + " of idling" : "no longer idling makes a difference");
  if (found.residency)
    set("residency", 1e3 * *found.residency, 1e3 * median.front().idle_microseconds, 1e3 * median.back().idle_microseconds,
        "where the wake-up is half way between the two");
}

void mappings(DescribedFields& fields, const HostFigures& host) {
  if (const Spread pair = host.of(figure::map); pair.passes != 0)
    fields.set("system.mapping.call", mapped(pair, [](double time) { return time / 2; }), DescribedFields::time_text,
               "half of mmap and munmap of a page that is never touched");
  if (const Spread page = host.of(figure::unmap_page); page.passes != 0)
    fields.set("system.mapping.page", page, DescribedFields::time_text, "munmap, by pages that were written");
}

void tasks(DescribedFields& fields, const HostFigures& host) {
  const auto set = [&](const std::string& name, const std::string& measured, const std::string& note) {
    if (const Spread spread = host.of(measured); spread.passes != 0)
      fields.set("system.tasks." + name, spread, DescribedFields::time_text, "libgomp, one thread; " + note);
  };
  set("call", figure::task_call, "a task that is not deferred");
  set("create", figure::task_create, "50 tasks");
  set("take", figure::task_take, "the wait for them, which runs and frees them");
}

}  // namespace

void describe_system(DescribedFields& fields, MachineFile& file, const HostFigures& host) {
  Machine& machine = file.machine;
  machine.system.emplace();
  machine.system->name = machine.name + "'s own";
  faults(fields, host);
  if (const Spread huge = host.of(figure::huge_fault); huge.passes != 0)
    fields.set("system.faults.huge", huge, DescribedFields::time_text, "a write to a fresh page of 2 MiB, with its zeroing");
  mappings(fields, host);
  tasks(fields, host);
  if (host.plan.threads.back() > 1) scheduler(fields, host);
}

}  // namespace homenode
