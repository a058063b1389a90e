#include "models/machines/description_reader.hpp"

#include <cstdlib>
#include <fstream>

namespace homenode {
namespace {

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
  std::ifstream file{path, std::ios::binary};
  std::error_code unusable;
  if (!file || std::filesystem::is_directory(path, unusable))
    throw InputError(path.string() + ": cannot be read; allowed: " + what + " (TOML)");
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
    std::error_code unusable;  // a name that is too long is none
    if (name.find('/') == std::string::npos && std::filesystem::exists(path, unusable)) return path;
  }
  throw UsageError(unknown_name(kind, name, names(directories)));
}

}  // namespace homenode
