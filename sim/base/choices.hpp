// What a name chooses, where there is nothing to set: engines, cache models. One explicit line each, as in registry.hpp.
#pragma once

#include <string>
#include <vector>

#include "sim/base/errors.hpp"

namespace homenode {

template <class Make>
struct Choice {
  std::string name, description;
  Make make;
};

template <class Make>
class Choices {
public:
  Choices(std::string kind, std::vector<Choice<Make>> entries) : kind_{std::move(kind)}, entries_{std::move(entries)} {}
  const std::string& kind() const { return kind_; }
  const std::vector<Choice<Make>>& entries() const { return entries_; }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Choice<Make>& entry : entries_) names.push_back(entry.name);
    return names;
  }
  // Throws UsageError for an unknown name.
  const Make& find(const std::string& name) const {
    for (const Choice<Make>& entry : entries_)
      if (entry.name == name) return entry.make;
    throw UsageError(unknown_name(kind_, name, names()));
  }

private:
  std::string kind_;
  std::vector<Choice<Make>> entries_;
};

}  // namespace homenode
