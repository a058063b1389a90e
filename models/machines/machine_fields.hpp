// Every single value of a Machine under its dotted name: the reader, the writer, the hash and `with_changes` share this
// one list, so that a new field of Machine is one line here and known to all of them. Energies and powers are fields of other
// descriptions (models/energy).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/base/power.hpp"
#include "sim/machine/machine.hpp"

namespace homenode {

using FieldTarget =
    std::variant<Time*, std::optional<Time>*, Bytes*, std::optional<Bytes>*, Bandwidth*, std::optional<Bandwidth>*, Frequency*, unsigned*,
                 double*, Inclusion*, Victim*, TlbIndex*, CacheClock*, SnoopMode*, DirectoryPlace*, Overlap*, StoreTreatment*, AddressHash*,
                 StopOrder*, Energy*, Power*, std::string*, std::vector<LoadedLatencyPoint>*, std::vector<ClockStep>*>;

struct MachineField {
  std::string name;  // "latency"; in the list of a whole machine with its place, "nodes.0.latency"
  FieldTarget target;
  bool required = false;
};

// Of one part. The targets point into the argument.
std::vector<MachineField> fields_of(NodeDescription&);
std::vector<MachineField> fields_of(ControllerDescription&);
std::vector<MachineField> fields_of(CacheDescription&);
std::vector<MachineField> fields_of(LinkDescription&);
struct MachineSection {
  std::string name;  // "" = the top of the file
  std::vector<MachineField> fields;
};
// What a machine has once: clock, core, coherence, messages, threads, tlb; what its own operating system costs, "system.faults" ..., if it
// says so.
std::vector<MachineSection> sections_of(Machine&);
// Of a description of its own: "faults" ...
std::vector<MachineSection> sections_of(OperatingSystem&);
inline constexpr std::string_view system_prefix = "system.";
// A field that a description may leave out without a default, or whose default is what silence has always meant (the oldest line as
// victim, one clock for any number of cores): it is then neither listed, nor written, nor part of the hash.
bool is_left_out(const MachineField&);

// All of a machine: sections, "nodes.0.latency", "controllers.0.read_only", "caches.3.size" (by level), "links.0.bandwidth".
std::vector<MachineField> fields_of(Machine&);

// Throws UnitError. Times may also be written in cycles of `clock` ("4 cycles"), bandwidths in bytes a cycle ("32 B/cycle").
void set_from_text(const MachineField&, std::string_view text, Frequency clock);
// Reads back as the same value.
std::string text_of(const MachineField&);
// For comparing bounds; of clocks by number of cores the one with the most; nothing for names and curves.
std::optional<double> magnitude_of(const MachineField&);
// Whether it is 0, not said, or a curve or table without points.
bool is_zero(const MachineField&);
// Multiplies the value, a curve's extra times, a table's clocks; whole numbers are rounded and stay at least 1. Throws UnitError for what
// is no number.
void scale(const MachineField&, double factor);

// What decides the behaviour, one "name = value" a line; names and descriptions of machines are left out.
std::string canonical_description(const Machine&);
// XXH3 (64 bit, hexadecimal) of the canonical description.
std::string machine_hash(const Machine&);

}  // namespace homenode
