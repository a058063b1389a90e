// In front of the line engine: what a slice touches, group by group, before anything of it has run. The cache stage drives it as if it
// were caches (pages touched, translations, stretches); the caches proper follow line by line, in time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/hardware/cache_model.hpp"

namespace homenode {

struct SliceTouches {
  std::vector<LineTouch> touches;
  std::vector<std::uint32_t> group_ends;  // index behind the last touch of each group
  void clear() {
    touches.clear();
    group_ends.clear();
  }
};

class SliceCollector final : public CacheModel {
public:
  explicit SliceCollector(SliceTouches*& into) : into_{into} {}
  void access(CoreId, std::span<const LineTouch> group, CacheOutcome&) override {
    into_->touches.insert(into_->touches.end(), group.begin(), group.end());
    into_->group_ends.push_back(static_cast<std::uint32_t>(into_->touches.size()));
  }
  void drop(LineRange, bool, CacheOutcome&) override {}
  void flush(CacheOutcome&) override {}
  std::unique_ptr<CacheModel> clone() const override { return std::make_unique<SliceCollector>(*this); }

private:
  SliceTouches*& into_;
};

}  // namespace homenode
