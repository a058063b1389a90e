#include "models/engines/simgrid/simgrid_sharing.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "models/engines/parts/event_time.hpp"
#include "models/engines/simgrid/simgrid_version.hpp"
#include "sim/base/errors.hpp"

namespace homenode {

namespace {

using namespace simgrid_version;

// Units a second of every link and load/store-unit host: far from SimGrid's smallest amounts (1e-9) for picosecond activities.
constexpr double units_per_second = 1e12;

bool& alive() {
  static bool lives = false;
  return lives;
}

// Model configuration is refused once a model was created, also by an earlier engine: set it on the first one only.
s4u::Engine* new_engine() {
  static bool configured = false;
  static std::string name = "homenode", quiet = "--log=root.threshold:warning";
  char* arguments[] = {name.data(), quiet.data(), nullptr};
  char** argv = arguments;
  int argc = configured ? 1 : 2;
  auto* engine = new s4u::Engine(&argc, argv);
  if (!configured) {
    s4u::Engine::set_config("host/model:ptask_L07");
    s4u::Engine::set_config("host/solver:fairbottleneck");
    s4u::Engine::set_config(time_precision);
    s4u::Engine::set_config(work_precision);
    configured = true;
  }
  return engine;
}

}  // namespace

// Resource r is link r of capacity 1 from the hub to host r; an activity's private minimum is work on a load/store-unit host of its own.
class SimgridSharing::Platform {
public:
  Platform(std::size_t resources, std::size_t concurrent) : engine_{new_engine()}, start_{s4u::Engine::get_clock()} {
    auto* zone = root_zone(*engine_);
    hub_ = add_host(zone, "hub", units_per_second);
    for (std::size_t r = 0; r < resources; ++r) {
      resources_.push_back(add_host(zone, "resource" + std::to_string(r), units_per_second));
      auto* link = add_link(zone, "link" + std::to_string(r), units_per_second);
      link->set_latency(0.0);
      add_route(zone, hub_, resources_.back(), link);
    }
    for (std::size_t t = concurrent; t-- > 0;) idle_units_.push_back(add_host(zone, "unit" + std::to_string(t), units_per_second));
    zone->seal();
  }

  // A run may be given up half way (an error of a policy). SimGrid must not be left with activities that run, and cancelled ones
  // outlive their engine in 3.32: what still runs is run to its end.
  ~Platform() {
    if (!running_.empty()) engine_->run();
  }

  ActivityId start(const Activity& activity) {
    if (idle_units_.empty()) throw std::invalid_argument("more activities at a time than announced");
    const ActivityId id{next_id_++};
    if (activity.minimum <= Time{} && activity.uses.empty()) {
      running_.push_back({id, nullptr, nullptr});
      return id;
    }
    auto* unit = idle_units_.back();
    idle_units_.pop_back();
    const std::size_t hosts = activity.uses.size() + 2;  // unit, hub, resources
    std::vector<s4u::Host*> host{unit, hub_};
    std::vector<double> work(hosts, 0.0), transfer(hosts * hosts, 0.0);
    work[0] = activity.minimum.seconds() * units_per_second;
    for (const ResourceUse& use : activity.uses) {
      if (use.resource.index() >= resources_.size() || !(use.seconds > 0))
        throw std::invalid_argument("an activity must use known resources for more than no time");
      transfer[hosts + host.size()] = use.seconds * units_per_second;  // row of the hub
      host.push_back(resources_[use.resource.index()]);
    }
    auto execution = s4u::Exec::init();
    execution->set_flops_amounts(work)->set_bytes_amounts(transfer)->set_hosts(host);
    execution->start();
    running_.push_back({id, std::move(execution), unit});
    return id;
  }

  std::optional<Time> next_event() {
    if (running_.empty()) return std::nullopt;
    for (const auto& activity : running_)
      if (!activity.execution) return now_;
    const double after = soonest();
    if (after < 0) throw std::logic_error("SimGrid sees no end of a running activity");
    return std::max(now_, round_up(s4u::Engine::get_clock() - start_ + after));
  }

  void advance(Time to, std::vector<ActivityEnd>& ended) {
    const double target = start_ + to.seconds();
    if (target > s4u::Engine::get_clock()) engine_->run_until(target);
    // The clock is a sum of doubles: what is due at `to` may lie a rounding error ahead of it.
    const double due = target + 1e-15 + 1e-14 * target;
    for (double after = soonest(); after >= 0; after = soonest()) {
      const double clock = s4u::Engine::get_clock();
      if (clock + after > due) break;
      engine_->run_until(std::max(clock + after, std::nextafter(due, due + 1)));
    }
    now_ = to;
    std::erase_if(running_, [&](const Running& activity) {
      if (activity.execution && activity.execution->get_state() != s4u::Activity::State::FINISHED) return false;
      ended.push_back({activity.id, to});
      if (activity.unit) idle_units_.push_back(activity.unit);
      return true;
    });
  }

private:
  // Seconds until something ends; negative when nothing runs. SimGrid declares the question free of side effects
  // (Model::next_occurring_event_is_idempotent).
  double soonest() const {
    double soonest = -1;
    for (auto* model : engine_->get_all_models()) {
      const double after = model->next_occurring_event(s4u::Engine::get_clock());
      if (after >= 0 && (soonest < 0 || after < soonest)) soonest = after;
    }
    return soonest;
  }

  struct Running {
    ActivityId id;
    s4u::ExecPtr execution;  // null: nothing to do, ends at once
    s4u::Host* unit = nullptr;
  };
  std::unique_ptr<s4u::Engine> engine_;
  double start_ = 0;  // SimGrid's clock goes on from engine to engine
  s4u::Host* hub_ = nullptr;
  std::vector<s4u::Host*> resources_, idle_units_;
  std::vector<Running> running_;
  Time now_;
  std::uint32_t next_id_ = 0;
};

SimgridSharing::SimgridSharing(std::size_t resources, std::size_t concurrent) {
  if (alive()) throw UsageError("one simgrid engine at a time: run simulations with this engine one after another or in worker processes");
  platform_ = std::make_unique<Platform>(resources, concurrent);
  alive() = true;
}

SimgridSharing::~SimgridSharing() {
  platform_.reset();
  alive() = false;
}

ActivityId SimgridSharing::start(const Activity& activity) { return platform_->start(activity); }
std::optional<Time> SimgridSharing::next_event() { return platform_->next_event(); }
void SimgridSharing::advance(Time to, std::vector<ActivityEnd>& ended) { platform_->advance(to, ended); }

}  // namespace homenode
