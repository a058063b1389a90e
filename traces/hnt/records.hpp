// How each table of a workload is laid out in a frame. Version 1.
#pragma once

#include "sim/workload.hpp"
#include "traces/hnt/encoding.hpp"

namespace homenode::format {

enum class FrameType : std::uint16_t { meta = 1, sites, threads, objects, regions, patterns, execution, losses, index };
constexpr const char* frame_name(FrameType type) {
  constexpr const char* names[] = {"?", "META", "SITE", "THREAD", "OBJECT", "REGION", "PATTERN", "EXECUTION", "LOSS", "INDEX"};
  const auto value = static_cast<std::size_t>(type);
  return value < std::size(names) ? names[value] : "?";
}

void put(Encoder&, const Site&);
void put(Encoder&, const TracedThread&);
void put(Encoder&, const TracedObject&);
void put(Encoder&, const Region&);
void put(Encoder&, const ItemPattern&);
void put(Encoder&, const Loss&);
void put(Encoder&, const Execution&);
void put(Encoder&, const ExecutionBody&);
void put_meta(Encoder&, const Workload&);

void get(Decoder&, Site&);
void get(Decoder&, TracedThread&);
void get(Decoder&, TracedObject&);
void get(Decoder&, Region&);
void get(Decoder&, ItemPattern&);
void get(Decoder&, Loss&);
void get(Decoder&, Execution&, std::size_t regions);
void get(Decoder&, ExecutionBody&, const Workload&);
void get_meta(Decoder&, Workload&);

}  // namespace homenode::format
