#include "models/systems/system_file.hpp"

#include "models/machines/description_reader.hpp"
#include "models/machines/parsed_once.hpp"

namespace homenode {
namespace {

constexpr std::string_view schema = "homenode.system/1";
const Frequency no_clock;  // a system runs at any: times in cycles are refused

class SystemReader : DescriptionReader {
public:
  SystemReader(std::string_view text, const std::string& file_name) : DescriptionReader{text, file_name, no_clock} {}

  SystemFile read() {
    const toml::table root = document_.parse();
    read_described(root, schema, "the system", file_, file_.system.name, file_.system.description, sections_of(file_.system));
    at_most_one(root, "faults", "zeroing", file_.system.fault.zeroing);
    at_most_one(root, "balancing", "available", file_.system.balancing.available);
    at_most_one(root, "mapping", "excludes_faults", file_.system.mapping.excludes_faults);
    at_most_one(root, "mapping", "releases_exclusively", file_.system.mapping.releases_exclusively);
    at_most_one(root, "scheduler", "new_by_idle_cores", file_.system.scheduler.new_by_idle_cores);
    const unsigned kernel = file_.system.balancing.kernel;
    if (kernel != 0 && (kernel < 206 || kernel > 9999))
      refuse_value(root, "balancing", "kernel",
                   "balancing.kernel is " + std::to_string(kernel) +
                       "; allowed: 100 x major + minor, 206 (Linux 2.6) to 9999, or 0 for none in particular");
    return std::move(file_);
  }

private:
  void at_most_one(const toml::table& root, const std::string& section, const std::string& key, double value) const {
    if (value <= 1) return;
    refuse_value(root, section, key, section + "." + key + " is above 1; allowed: 0 to 1");
  }

  [[noreturn]] void refuse_value(const toml::table& root, const std::string& section, const std::string& key,
                                 const std::string& message) const {
    document_.refuse(root.get_as<toml::table>(section)->get(key)->source(), message);
  }

  SystemFile file_;
};

}  // namespace

SystemFile parse_system(std::string_view text, const std::string& file_name) { return SystemReader{text, file_name}.read(); }

SystemFile read_system_file(const std::filesystem::path& path) {
  return parsed_once(description_text(path, "a system description"), path.string(), &parse_system);
}

}  // namespace homenode
