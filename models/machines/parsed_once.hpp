// Descriptions that every run of a grid names are parsed once for all of them.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace homenode {

// What `parse(text, name)` makes of a description, kept by its name until its text differs. Safe to use from several threads.
template <class File>
File parsed_once(const std::string& text, const std::string& name, File (*parse)(std::string_view, const std::string&)) {
  struct Known {
    std::string text;
    File file;
  };
  static std::mutex mutex;
  static std::map<std::string, Known> known;
  const std::lock_guard lock{mutex};
  const auto found = known.find(name);
  if (found != known.end() && found->second.text == text) return found->second.file;
  File file = parse(text, name);
  known.insert_or_assign(name, Known{text, file});
  return file;
}

}  // namespace homenode
