// What was found out about one program, so that a second run need not find it out again.
#pragma once

#include <exception>
#include <functional>
#include <future>
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

// Of such values the one that was asked for last, where each takes much memory. A type that this room does not know: what makes a value
// knows what it is. Safe to use from several threads; who asks for what another one is making waits for it.
class LastKnown {
public:
  template <class Value>
  std::shared_ptr<const Value> get(const std::string& name, const std::function<std::shared_ptr<const Value>()>& make) const {
    std::promise<std::shared_ptr<const void>> promise;
    std::shared_future<std::shared_ptr<const void>> found;
    bool makes = false;
    {
      const std::lock_guard lock{last_->mutex};
      makes = !last_->value.valid() || last_->name != name;
      if (makes) {
        last_->name = name;
        last_->value = promise.get_future().share();
      }
      found = last_->value;
    }
    if (makes) {
      try {
        promise.set_value(make());
      } catch (...) {
        promise.set_exception(std::current_exception());  // for those who wait; the next one tries again
        const std::lock_guard lock{last_->mutex};
        if (last_->name == name) last_->value = {};
      }
    }
    return std::static_pointer_cast<const Value>(found.get());
  }

private:
  struct Last {
    std::mutex mutex;
    std::string name;
    std::shared_future<std::shared_ptr<const void>> value;
  };
  std::shared_ptr<Last> last_ = std::make_shared<Last>();
};

}  // namespace homenode
