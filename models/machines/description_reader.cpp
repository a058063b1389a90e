#include "models/machines/description_reader.hpp"

#include <cstdlib>
#include <fstream>

namespace homenode {
namespace {

constexpr std::uintmax_t most_bytes = std::uintmax_t{16} << 20;  // the largest of ours has 20 kB

std::vector<std::filesystem::path> with_environment(const std::vector<std::filesystem::path>& directories, const char* variable) {
  std::vector<std::filesystem::path> all;
  if (const char* paths = std::getenv(variable)) {
    std::istringstream list{paths};
    for (std::string path; std::getline(list, path, ':');)
      if (!path.empty()) all.emplace_back(path);
  }
  all.insert(all.end(), directories.begin(), directories.end());
  return all;
}

}  // namespace

std::string description_text(const std::filesystem::path& path, const std::string& what) {
  // Of a pipe or a device nobody knows when it ends.
  std::error_code unknown;
  const bool is_file = std::filesystem::is_regular_file(path, unknown);
  std::ifstream file;
  if (is_file) file.open(path, std::ios::binary);
  if (!is_file || !file) throw InputError(brief(path.string()) + ": cannot be read; allowed: a file, " + what + " (TOML)");
  if (std::filesystem::file_size(path, unknown) > most_bytes || unknown)
    throw InputError(brief(path.string()) + ": has more than " + std::to_string(most_bytes) + " bytes; allowed: " + what + " (TOML)");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> DescriptionFolders::names(const std::vector<std::filesystem::path>& directories) const {
  std::set<std::string> names;
  for (const std::filesystem::path& directory : with_environment(directories, variable)) {
    std::error_code missing;
    for (const auto& entry : std::filesystem::directory_iterator{directory, missing})
      if (entry.path().extension() == ".toml") names.insert(entry.path().stem().string());
  }
  return {names.begin(), names.end()};
}

std::filesystem::path DescriptionFolders::find(const std::string& name, const std::vector<std::filesystem::path>& directories) const {
  for (const std::filesystem::path& directory : with_environment(directories, variable)) {
    std::filesystem::path path = directory / (name + ".toml");
    std::error_code too_long;
    if (name.find('/') == std::string::npos && std::filesystem::exists(path, too_long)) return path;
  }
  throw UsageError(unknown_name(kind, name, names(directories)));
}

}  // namespace homenode
