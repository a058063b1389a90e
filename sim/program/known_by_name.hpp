// What was found out about one program, so that a second run need not find it out again.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace homenode {

// By what it depends on besides the program. Copies share it. Safe to use from several threads: each value is made once.
template <class Value>
class KnownByName {
public:
  std::shared_ptr<const Value> get(const std::string& name, const std::function<Value()>& make) const {
    const std::lock_guard lock{known_->mutex};
    std::shared_ptr<const Value>& found = known_->by_name[name];
    if (!found) found = std::make_shared<const Value>(make());
    return found;
  }

private:
  struct Known {
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<const Value>> by_name;
  };
  std::shared_ptr<Known> known_ = std::make_shared<Known>();
};

}  // namespace homenode
