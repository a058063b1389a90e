#include "models/machines/machine_fields.hpp"

namespace homenode {

std::vector<MachineSection> sections_of(OperatingSystem& system) {
  return {{"faults",
           {{"parallel", &system.fault.parallel},
            {"serial", &system.fault.serial},
            {"serial_transfers", &system.fault.serial_transfers},
            {"zeroing", &system.fault.zeroing},
            {"huge", &system.fault.huge},
            {"cold", &system.fault.cold}}},
          {"mapping",
           {{"call", &system.mapping.call},
            {"page", &system.mapping.page},
            {"shootdown", &system.mapping.shootdown},
            {"shootdown_core", &system.mapping.shootdown_core},
            {"excludes_faults", &system.mapping.excludes_faults},
            {"releases_exclusively", &system.mapping.releases_exclusively}}},
          {"migration", {{"fixed", &system.migration.fixed}, {"shootdown", &system.migration.shootdown}}},
          {"balancing",
           {{"available", &system.balancing.available},
            {"kernel", &system.balancing.kernel},
            {"hinting_fault", &system.balancing.hinting_fault},
            {"scan", &system.balancing.scan}}},
          {"tasks", {{"call", &system.tasks.call}, {"create", &system.tasks.create}, {"take", &system.tasks.take}}},
          {"scheduler",
           {{"latency", &system.scheduler.latency},
            {"least_slice", &system.scheduler.least_slice},
            {"wakeup_granularity", &system.scheduler.wakeup_granularity},
            {"tick", &system.scheduler.tick},
            {"balance_interval", &system.scheduler.balance_interval},
            {"busy_factor", &system.scheduler.busy_factor},
            {"imbalance", &system.scheduler.imbalance},
            {"new_by_idle_cores", &system.scheduler.new_by_idle_cores},
            {"cache_hot", &system.scheduler.cache_hot},
            {"context_switch", &system.scheduler.context_switch},
            {"wakeup", &system.scheduler.wakeup},
            {"deep_wakeup", &system.scheduler.deep_wakeup},
            {"residency", &system.scheduler.residency},
            {"migration", &system.scheduler.migration},
            {"disturbances", &system.scheduler.disturbances},
            {"disturbance", &system.scheduler.disturbance}}}};
}

}  // namespace homenode
