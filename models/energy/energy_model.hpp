// What a run costs in joules, from what the engines count (EventCounts), what the cores did (CoreUse) and how long it took.
//
//   cores        busy x time + spinning x time + idle x the rest of the run's time, of each core; wakeup x wakings
//   caches       first_level x accesses + a line's energy at each further level that served it + transfer x lines between caches
//   controllers  read and write x bytes moved at the controllers
//   links        byte x bytes on each directed link, messages included
//   static       power of sockets, controllers (with their memory) and links x the run's time
//
// The components add up to the total. Defaults are those of default.toml, where their sources and intervals stand.
#pragma once

#include <string>
#include <vector>

#include "sim/base/power.hpp"
#include "sim/machine/machine.hpp"
#include "sim/report/report.hpp"

namespace homenode {

struct EnergyModel {
  std::string name = "default", description;
  struct {
    Power busy = Power::watts(9), spinning = Power::watts(6), idle = Power::watts(1.5);
    Energy wakeup = Energy::joules(100e-6);
  } core;
  struct {
    Energy first_level = Energy::joules(20e-12);  // an access
    Energy private_line = Energy::joules(200e-12), shared_line = Energy::joules(800e-12), transfer = Energy::joules(1600e-12);
  } cache;
  struct {
    Energy read = Energy::joules(240e-12), write = Energy::joules(240e-12);  // a byte
  } controller;
  struct {
    Energy byte = Energy::joules(120e-12);
  } link;
  struct {
    Power socket = Power::watts(20), controller = Power::watts(8), link = Power::watts(1.5);
  } background;
};

struct EnergyComponent {
  std::string name;  // "cores", "caches", "controllers", "links", "static"
  Energy energy;
};

struct EnergyReport {
  std::vector<EnergyComponent> components;
  // Of `cores`, in the order busy, spinning, idle, wakeups; of `static`, in the order sockets, controllers, links.
  std::vector<EnergyComponent> cores, background;
  Energy total() const;
};

EnergyReport energy_of(const EnergyModel&, const Machine&, const RunReport&);

}  // namespace homenode
