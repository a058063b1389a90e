// What the traced program's files say of places in its code: functions, lines, the names of constructs, the wrapper's notes.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/program/workload.hpp"
#include "traces/capture/assembler/symbols.hpp"

namespace homenode {

struct CallSite {
  std::uint64_t module = 0, offset = 0;
  auto operator<=>(const CallSite&) const = default;
};

class ProgramText {
public:
  ProgramText() { sites.push_back({}); }
  // Module 0 is the program: its notes are read.
  const ModuleSymbols& add(std::uint64_t id, const std::string& path);
  std::string function_of(const CallSite&) const;  // "" if unknown
  SiteId site_id(const CallSite&);
  // Where the body of the parallel construct at `call` begins. It gives the construct's line: gcc keeps the line of the statement before
  // for a call that passes no data. The first body of a call counts.
  void note_body(const CallSite& call, const CallSite& body) { bodies_.try_emplace(call, body); }
  // function#ordinal, by the first appearance of the place in its function.
  std::string numbered(const CallSite&);
  // function:serial#ordinal of serial code that begins at this place, by first appearance: a name until `serial_names` tells better ones.
  std::string numbered_serial(SiteId first);
  // function:serial:line by the name above, of places whose line is known. Of several places on a line the others end in .1, .2 ...
  std::map<std::string, std::string> serial_names() const;
  // Files and lines of all sites, in one batch a module.
  void look_up_lines();
  // The loops' own schedules, from the wrapper's notes; after look_up_lines. Where a loop's line is that of an inlined function, its site
  // gets the line of its pragma.
  void note_clauses(std::vector<Region>&);
  // From the wrapper's notes, of the program itself: whether a `calloc` stands on the line of this call, whether this line stores anything.
  bool calls_calloc(const CallSite&);
  bool stores(SiteId);

  std::vector<Site> sites;   // site 0 is nowhere
  std::vector<Loss> losses;  // what the wrapper found uninstrumented

private:
  void read_notes(const ModuleSymbols&);
  std::string function_of_serial(SiteId first) const;
  std::vector<std::unique_ptr<ModuleSymbols>> modules_;
  std::map<CallSite, SiteId> site_ids_;
  std::map<CallSite, CallSite> bodies_;  // by the call
  std::map<CallSite, std::uint32_t> ordinals_;
  std::map<std::string, std::uint32_t> constructs_in_, serial_code_in_;
  std::map<SiteId, std::string> serial_labels_;
  std::vector<SiteId> serial_places_;  // by first appearance
  std::vector<nlohmann::json> clauses_;
  using Line = std::pair<std::string, std::uint32_t>;  // of a file
  Line line_of(const CallSite&) const;
  const nlohmann::json* note_at(const Line&) const;  // of the loop there; none
  std::map<SiteId, const nlohmann::json*> notes_around(const std::set<SiteId>& loops) const;
  std::set<Line> calling_calloc_, storing_;
  std::map<CallSite, bool> calls_calloc_;
  std::map<SiteId, bool> stores_;
};

}  // namespace homenode
