// What differs between SimGrid 3.32 (Debian) and 4.x, in one place. Included by simgrid_sharing.cpp only.
#pragma once

#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/s4u.hpp>
#include <string>

#include <simgrid/version.h>  // needs what s4u.hpp includes

namespace homenode::simgrid_version {

namespace s4u = simgrid::s4u;

#if SIMGRID_VERSION >= 40000
inline constexpr const char* time_precision = "precision/timing:1e-12";
inline constexpr const char* work_precision = "precision/work-amount:1e-9";
inline s4u::NetZone* root_zone(s4u::Engine& engine) { return engine.get_netzone_root(); }
inline s4u::Host* add_host(s4u::NetZone* zone, const std::string& name, double speed) { return zone->add_host(name, speed); }
inline s4u::Link* add_link(s4u::NetZone* zone, const std::string& name, double bandwidth) { return zone->add_link(name, bandwidth); }
inline void add_route(s4u::NetZone* zone, s4u::Host* from, s4u::Host* to, s4u::Link* link) {
  zone->add_route(from, to, {s4u::LinkInRoute(link)}, false);
}
#else
inline constexpr const char* time_precision = "surf/precision:1e-12";
inline constexpr const char* work_precision = "maxmin/precision:1e-9";
inline s4u::NetZone* root_zone(s4u::Engine&) { return s4u::create_full_zone("root"); }
inline s4u::Host* add_host(s4u::NetZone* zone, const std::string& name, double speed) { return zone->create_host(name, speed); }
inline s4u::Link* add_link(s4u::NetZone* zone, const std::string& name, double bandwidth) { return zone->create_link(name, bandwidth); }
inline void add_route(s4u::NetZone* zone, s4u::Host* from, s4u::Host* to, s4u::Link* link) {
  zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, {s4u::LinkInRoute(link)}, false);
}
#endif

}  // namespace homenode::simgrid_version
