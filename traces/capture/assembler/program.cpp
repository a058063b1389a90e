#include "traces/capture/assembler/program.hpp"

#include <algorithm>

#include "traces/capture/assembler/names.hpp"

namespace homenode {

const ModuleSymbols& ProgramText::add(std::uint64_t id, const std::string& path) {
  if (modules_.size() <= id) modules_.resize(id + 1);
  modules_[id] = std::make_unique<ModuleSymbols>(path);
  read_notes(*modules_[id]);
  return *modules_[id];
}

std::string ProgramText::function_of(const CallSite& site) const {
  return site.module < modules_.size() && modules_[site.module] ? modules_[site.module]->function(site.offset) : std::string{};
}

SiteId ProgramText::site_id(const CallSite& site) {
  if (site.module == 0 && site.offset == 0) return SiteId{0};
  const auto [known, fresh] = site_ids_.try_emplace(site, SiteId{sites.size()});
  if (fresh) {
    Site entry;
    entry.pc = site.offset;
    entry.function = function_of(site);
    sites.push_back(entry);
  }
  return known->second;
}

namespace {

std::string source_of(const nlohmann::json& note) { return source_name(note.at("file").get<std::string>()); }

// As the programmer sees it: bodies that gcc outlines are of the function around them, constructors of globals run before main.
std::string of_source(const std::string& function) {
  if (function.starts_with("_GLOBAL__sub_I_")) return "main";
  return function.substr(0, function.find("._omp_fn."));
}

}  // namespace

std::string ProgramText::numbered(const CallSite& site) {
  const std::string function = function_of(site).empty() ? "?" : of_source(function_of(site));
  const auto [known, fresh] = ordinals_.try_emplace(site, 0);
  if (fresh) known->second = constructs_in_[function]++;
  return function + "#" + std::to_string(known->second);
}

std::string ProgramText::numbered_serial(SiteId first) {
  const auto [known, fresh] = serial_labels_.try_emplace(first);
  if (fresh) {
    const std::string function = function_of_serial(first);
    known->second = function + ":serial#" + std::to_string(serial_code_in_[function]++);
    serial_places_.push_back(first);
  }
  return known->second;
}

std::string ProgramText::function_of_serial(SiteId first) const {
  const std::string& function = sites[first.index()].function;
  return function.empty() ? "main" : of_source(function);
}

std::map<std::string, std::string> ProgramText::serial_names() const {
  std::map<SiteId, std::uint32_t> line_of;
  for (std::size_t module = 0; module < modules_.size(); ++module) {
    std::vector<std::uint64_t> offsets;
    std::vector<SiteId> ids;
    for (const SiteId id : serial_places_) {
      const auto at = std::find_if(site_ids_.begin(), site_ids_.end(), [&](const auto& known) { return known.second == id; });
      if (at == site_ids_.end() || at->first.module != module) continue;
      offsets.push_back(at->first.offset);
      ids.push_back(id);
    }
    if (offsets.empty() || !modules_[module]) continue;
    const auto lines = modules_[module]->lines(offsets, ModuleSymbols::Inlined::outermost);
    for (std::size_t i = 0; i < ids.size(); ++i) line_of[ids[i]] = lines[i].second;
  }
  std::map<std::string, std::string> names;
  std::map<std::string, std::uint32_t> times;
  for (const SiteId id : serial_places_) {
    if (line_of[id] == 0) continue;
    const std::string name = function_of_serial(id) + ":serial:" + std::to_string(line_of[id]);
    const std::uint32_t before = times[name]++;
    names[serial_labels_.at(id)] = before == 0 ? name : name + "." + std::to_string(before);
  }
  return names;
}

void ProgramText::look_up_lines() {
  for (std::size_t module = 0; module < modules_.size(); ++module) {
    if (!modules_[module]) continue;
    std::vector<std::uint64_t> offsets;
    std::vector<SiteId> ids;
    for (const auto& [site, id] : site_ids_) {
      const auto body = bodies_.find(site);
      const CallSite& place = body == bodies_.end() ? site : body->second;
      if (place.module != module) continue;
      offsets.push_back(place.offset);
      ids.push_back(id);
    }
    if (offsets.empty()) continue;
    const auto lines = modules_[module]->lines(offsets, ModuleSymbols::Inlined::own);
    for (std::size_t i = 0; i < ids.size() && i < lines.size(); ++i) {
      Site& site = sites[ids[i].index()];
      site.file = as_utf8(lines[i].first), site.line = lines[i].second;
    }
  }
}

void ProgramText::read_notes(const ModuleSymbols& program) {
  const auto lines_of = [](const std::string& text, auto each) {
    std::size_t begin = 0;
    while (begin < text.size()) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      if (end > begin) each(nlohmann::json::parse(text.substr(begin, end - begin)));
      begin = end + 1;
    }
  };
  lines_of(program.section(".homenode.clauses"), [&](const nlohmann::json& note) { clauses_.push_back(note); });
  lines_of(program.section(".homenode.zeroed"), [&](const nlohmann::json& note) {
    const auto file = note.at("file").get<std::string>();
    for (const auto& line : note.at("calloc")) calling_calloc_.emplace(file, line.get<std::uint32_t>());
    for (const auto& line : note.at("stores")) storing_.emplace(file, line.get<std::uint32_t>());
  });
  lines_of(program.section(".homenode.loss"), [&](const nlohmann::json& note) {
    Loss loss;
    loss.reason = program.readable(note.at("function").get<std::string>()) + ": " + note.at("reason").get<std::string>();
    loss.count = note.at("count").get<std::uint64_t>();
    losses.push_back(loss);
  });
}

ProgramText::Line ProgramText::line_of(const CallSite& site) const {
  if (site.module >= modules_.size() || !modules_[site.module]) return {};
  return modules_[site.module]->lines({site.offset}, ModuleSymbols::Inlined::innermost).front();
}

bool ProgramText::calls_calloc(const CallSite& site) {
  if (calling_calloc_.empty()) return false;
  const auto [known, fresh] = calls_calloc_.try_emplace(site, false);
  if (fresh) known->second = calling_calloc_.contains(line_of(site));
  return known->second;
}

bool ProgramText::stores(SiteId id) {
  const auto [known, fresh] = stores_.try_emplace(id, true);
  if (!fresh) return known->second;
  const auto site = std::find_if(site_ids_.begin(), site_ids_.end(), [&](const auto& entry) { return entry.second == id; });
  if (site != site_ids_.end()) known->second = storing_.contains(line_of(site->first));
  return known->second;
}

const nlohmann::json* ProgramText::note_at(const Line& place) const {
  const auto found = std::find_if(clauses_.begin(), clauses_.end(), [&](const nlohmann::json& note) {
    const bool is_there = note.at("line").get<std::uint32_t>() <= place.second && place.second <= note.at("for_line").get<std::uint32_t>();
    return is_there && source_of(note) == place.first;
  });
  return found == clauses_.end() ? nullptr : &*found;
}

// By all lines of the call, and of where the body begins.
std::map<SiteId, const nlohmann::json*> ProgramText::notes_around(const std::set<SiteId>& loops) const {
  std::map<SiteId, const nlohmann::json*> found;
  for (std::size_t module = 0; module < modules_.size(); ++module) {
    if (!modules_[module]) continue;
    std::vector<std::uint64_t> offsets;
    std::vector<SiteId> ids;
    for (const auto& [call, id] : site_ids_) {
      if (!loops.contains(id)) continue;
      const auto body = bodies_.find(call);
      for (const CallSite& place : {call, body == bodies_.end() ? call : body->second}) {
        if (place.module != module) continue;
        offsets.push_back(place.offset);
        ids.push_back(id);
      }
    }
    const auto frames = modules_[module]->frames(offsets);
    for (std::size_t i = 0; i < ids.size(); ++i)
      for (const Line& line : frames[i])
        if (const nlohmann::json* note = note_at(line)) found.try_emplace(ids[i], note);
  }
  return found;
}

void ProgramText::note_clauses(std::vector<Region>& regions) {
  if (clauses_.empty()) return;
  const auto line_of = [&](const Region& region) -> Line {
    const Site& site = sites[region.site.index()];
    return {site.file, site.line};
  };
  std::set<SiteId> unknown;
  for (const Region& region : regions)
    if (region.kind == RegionKind::loop && note_at(line_of(region)) == nullptr) unknown.insert(region.site);
  for (const auto& [id, note] : notes_around(unknown)) {
    Site& site = sites[id.index()];
    site.file = source_of(*note), site.line = note->at("line").get<std::uint32_t>();
  }
  for (Region& region : regions) {
    const nlohmann::json* const note = region.kind == RegionKind::loop ? note_at(line_of(region)) : nullptr;
    if (note == nullptr) continue;
    if (!note->at("schedule").is_null()) region.schedule_clause = note->at("schedule").get<std::string>();
    region.reduction = note->at("reduction").get<bool>();
  }
}

}  // namespace homenode
