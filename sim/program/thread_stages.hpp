// Cuts each thread into stages where it creates or joins another: which stages of two threads can run at the same time.
#pragma once

#include <cstdint>
#include <vector>

namespace homenode {

class ThreadStages {
public:
  explicit ThreadStages(std::size_t threads) : stages_(threads, 1), joins_(threads), made_(threads) {}
  // The stage that the thread is in; its first is 0.
  std::uint32_t of(std::size_t thread) const { return stages_[thread] - 1; }
  // Each ends a stage of the creator (joiner). A created thread runs after all earlier stages, a joined one before all later ones.
  void creates(std::size_t creator, std::size_t created);
  void joins(std::size_t joiner, std::size_t joined);

  // After the last event. Throws InputError if joins and creations run in a circle.
  void settle();
  // True if neither stage comes before the other.
  bool concurrent(std::size_t a, std::uint32_t stage_of_a, std::size_t b, std::uint32_t stage_of_b) const {
    return !before(a, stage_of_a, b, stage_of_b) && !before(b, stage_of_b, a, stage_of_a);
  }
  // True if all of `thread` is over when `other` begins.
  bool is_over_before(std::size_t thread, std::size_t other) const { return thread != other && before(thread, of(thread), other, 0); }

private:
  struct Join {
    std::uint32_t stage;  // the first one behind it
    std::size_t joined;
  };
  struct Creation {
    bool known = false;
    std::size_t creator = 0;
    std::uint32_t stage = 0;  // the last one before it
  };
  // `stage` of thread a is over when stage `other` of thread b begins.
  bool before(std::size_t a, std::uint32_t stage, std::size_t b, std::uint32_t other) const {
    return a == b ? stage < other : stage < over_[b][other][a];
  }
  bool begin(std::size_t thread);

  std::vector<std::uint32_t> stages_;                          // how many
  std::vector<std::vector<Join>> joins_;                       // by joiner, in order
  std::vector<Creation> made_;                                 // by created thread
  std::vector<std::vector<std::vector<std::uint32_t>>> over_;  // [thread][stage][other thread]: its stages that are over then
};

}  // namespace homenode
