#include "models/core/core_times.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "models/core/core_block.hpp"
#include "models/core/load_waits.hpp"
#include "models/core/window_simulation.hpp"

namespace homenode {
namespace {

constexpr unsigned times_alone = 32;
// A branch on a number that the instruction before it made: a cycle to be dispatched, one to compare, one to execute. What calibration
// measures (models/machines/native/measure_branches.cpp) takes that much beyond the refill; core_times_test.cpp runs its loop.
constexpr double of_calibration = 3;

struct Sum {
  std::uint64_t cycles = 0, executions = 0;
  void add(std::uint64_t duration, std::uint64_t count) {
    cycles += duration * count;
    executions += count;
  }
};

// What wrong branches take longer than right ones.
struct Delays {
  double cycles = 0;
  std::uint64_t wrong = 0;
  void add(double longer, std::uint64_t count) {
    cycles += longer * static_cast<double>(count);
    wrong += count;
  }
  void add(const Delays& other) {
    cycles += other.cycles;
    wrong += other.wrong;
  }
  double mean() const { return wrong > 0 ? cycles / static_cast<double>(wrong) : 0; }
};

// By the cycles of the windows.
struct Shares {
  SharedUse sum;
  double cycles = 0;
  void add(const SharedUse& use, std::uint64_t duration) {
    // A block that retires with the one before takes no cycle, and counts where there is nothing else.
    constexpr double nothing = 1e-6;
    const double weight = static_cast<double>(duration) + nothing;
    sum.units += use.units * weight;
    sum.fetching += use.fetching * weight;
    cycles += weight;
  }
  SharedUse mean() const { return cycles > 0 ? SharedUse{.units = sum.units / cycles, .fetching = sum.fetching / cycles} : SharedUse{}; }
};

struct BlockSums {
  Sum measured, warm_up;
  Delays delays;
  std::vector<LoadWaits> waits;
  Shares shares;
  CoreActivity steady, whole;
};

std::uint64_t asking_for(VectorWidth width, const CoreBlock& block) {
  return static_cast<std::uint64_t>(std::count_if(block.instructions.begin(), block.instructions.end(),
                                                  [&](const CoreInstruction& instruction) { return instruction.width == width; }));
}

class Calculation {
public:
  explicit Calculation(const CoreRequest& request) : target_{request.cpu}, reader_{target_}, core_{properties_of(target_)} {
    for (const auto& [id, block] : request.blocks) blocks_.emplace(id, reader_.read(id, block));
    for (const auto& [id, each] : request.executions_a_misprediction) branches_[id] = {.each = each, .executions = each / 2};
  }

  BlockTimes run(const CoreRequest& request) {
    for (const auto& [runs, count] : request.sequences) {
      WindowOfBlocks window;
      for (const CoreRequest::Run& run : runs) window.blocks.insert(window.blocks.end(), run.count, &blocks_.at(run.block));
      const WindowTimes right = simulate(target_, window, core_);
      add_at_all_begins(window, right, count);
      const WindowOfBlocks with = with_wrong_branches(window);
      add_waits(with, right.measured_from, count * begins_in_line());
      if (!with.wrong.empty()) add_delays(with, right, count);
    }
    BlockTimes times{.blocks = {}, .unknown = reader_.unknown(), .measured_cycles = 0};
    for (const auto& [id, sums] : sums_) all_delays_.add(sums.delays);
    for (const auto& [id, sums] : sums_) {
      times.measured_cycles += static_cast<double>(sums.measured.cycles) / static_cast<double>(begins_in_line());
    }
    for (const auto& [id, block] : blocks_) times.blocks.emplace(id, time_of(block));
    return times;
  }

private:
  // Places in a line where code behind a taken branch may begin. Captures do not tell which.
  std::uint64_t begins_in_line() const {
    const BranchTargets& targets = core_.branch_targets;
    return targets.operations == 0 ? 1 : targets.line / targets.aligned;
  }

  // `average`: of a front end that takes what it takes on average. Where it may be what the core waits for, the average of the times at
  // each place is more than the time at the average.
  void add_at_all_begins(WindowOfBlocks window, const WindowTimes& average, std::uint64_t count) {
    constexpr double fast_enough = 0.8;
    const double cycles = average.retired.empty() ? 0 : static_cast<double>(average.retired.back());
    if (average.fetching <= fast_enough * cycles) {
      add(window, average, count, begins_in_line());
      return;
    }
    for (std::uint64_t place = 0; place < begins_in_line(); ++place) {
      window.begin = static_cast<unsigned>(place) * core_.branch_targets.aligned;
      add(window, simulate(target_, window, core_), count, 1);
    }
  }

  // Of what overlaps, that is of the window as a whole.
  SharedUse use_of(const WindowTimes& times) const {
    CoreActivity steady, whole;
    for (const auto& [id, activity] : times.steady) steady.add(activity);
    for (const auto& [id, activity] : times.whole) whole.add(activity);
    return shared_use(steady.cycles > 0 ? steady : whole, target_.model());
  }

  // For so many of the places.
  void add(const WindowOfBlocks& window, const WindowTimes& times, std::uint64_t count, std::uint64_t places) {
    const SharedUse use = use_of(times);
    for (std::size_t index = 0; index < window.blocks.size(); ++index) {
      BlockSums& sums = sums_[window.blocks[index]->id];
      const std::uint64_t duration = times.retired[index] - (index == 0 ? 0 : times.retired[index - 1]);
      // Before the window's first block the core is empty: how long it takes says nothing, but where there is nothing else.
      if (index >= times.measured_from)
        sums.measured.add(duration, count * places);
      else if (index > 0)
        sums.warm_up.add(duration, count * places);
      if (index > 0) sums.shares.add(use, duration * count * places);
    }
    for (std::uint64_t place = 0; place < places; ++place) {
      for (const auto& [id, activity] : times.steady) sums_[id].steady.add(activity);
      for (const auto& [id, activity] : times.whole) sums_[id].whole.add(activity);
    }
  }

  // Which executions wrong branches end is not known, only how many: they are spread evenly.
  WindowOfBlocks with_wrong_branches(const WindowOfBlocks& window) {
    WindowOfBlocks with{.blocks = window.blocks, .is_cut = window.is_cut, .refill = target_.model().MispredictPenalty};
    for (std::size_t index = 0; index < window.blocks.size(); ++index) {
      const auto branch = branches_.find(window.blocks[index]->id);
      if (branch == branches_.end()) continue;
      if ((branch->second.executions += 1) < branch->second.each) continue;
      branch->second.executions -= branch->second.each;
      with.wrong.push_back(index);
    }
    return with;
  }

  void add_waits(const WindowOfBlocks& window, std::size_t from, std::uint64_t count) {
    for (const auto& [id, found] : load_waits(target_, window, core_.forwarding, from)) {
      std::vector<LoadWaits>& sums = sums_[id].waits;
      sums.resize(std::max(sums.size(), found.size()));
      for (std::size_t i = 0; i < found.size(); ++i) {
        sums[i].loads += found[i].loads * static_cast<double>(count);
        sums[i].waited += found[i].waited * static_cast<double>(count);
      }
    }
  }

  // The window once more.
  void add_delays(const WindowOfBlocks& with, const WindowTimes& right, std::uint64_t count) {
    const WindowTimes wrong = simulate(target_, with, core_);
    const auto behind = [&](std::size_t index) {
      return static_cast<double>(wrong.retired[index]) - static_cast<double>(right.retired[index]);
    };
    // From one wrong branch to the next, what the one delays. The last one's delay may be cut off.
    for (std::size_t next = 1; next < with.wrong.size(); ++next) {
      const std::size_t from = with.wrong[next - 1];
      if (from < right.measured_from) continue;
      sums_[with.blocks[from]->id].delays.add(behind(with.wrong[next]) - behind(from) - with.refill - of_calibration, count);
    }
  }

  BlockTime time_of(const CoreBlock& block) {
    const auto found = sums_.find(block.id);
    const bool is_timed = found != sums_.end() && found->second.measured.executions + found->second.warm_up.executions > 0;
    if (!is_timed) return alone(block);
    return mean(block, found->second);
  }

  BlockTime alone(const CoreBlock& block) {
    const CoreBlock cut = reader_.without_carried_registers(block);
    sums_.erase(block.id);
    const WindowOfBlocks window{.blocks = std::vector<const CoreBlock*>(times_alone, &cut), .is_cut = true};
    add(window, simulate(target_, window, core_), 1, begins_in_line());
    BlockTime time = mean(block, sums_.at(block.id));
    time.alone = true;
    return time;
  }

  static std::vector<LoadWaits> of_one(std::vector<LoadWaits> waits, double executions) {
    for (LoadWaits& each : waits) each.loads /= executions, each.waited /= executions;
    return waits;
  }

  BlockTime mean(const CoreBlock& block, const BlockSums& sums) const {
    const Sum& sum = sums.measured.executions > 0 ? sums.measured : sums.warm_up;
    return {.cycles = static_cast<double>(sum.cycles) / static_cast<double>(sum.executions),
            .alone = false,
            .executions = sum.executions / begins_in_line(),
            .bound = bottleneck(sums.steady.cycles > 0 ? sums.steady : sums.whole, target_.model()),
            .resolution = (sums.delays.wrong > 0 ? sums.delays : all_delays_).mean(),
            .wrong = sums.delays.wrong,
            .waits = of_one(sums.waits, static_cast<double>(sum.executions)),
            .instructions = block.instructions.size(),
            .wide_256 = asking_for(VectorWidth::bits_256, block),
            .wide_512 = asking_for(VectorWidth::bits_512, block),
            .use = sums.shares.mean()};
  }

  CoreTarget target_;
  BlockReader reader_;
  CoreProperties core_;
  std::map<std::uint64_t, CoreBlock> blocks_;
  std::map<std::uint64_t, BlockSums> sums_;
  // Of blocks with wrong branches: executions since the last one, so that they begin in the middle.
  struct Branch {
    double each = 0, executions = 0;
  };
  std::map<std::uint64_t, Branch> branches_;
  Delays all_delays_;
};

// Of the instructions that load: their place in the block, loads, and those of them that are waited for.
nlohmann::ordered_json waits_json(const std::vector<LoadWaits>& waits) {
  nlohmann::ordered_json loads = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < waits.size(); ++i)
    if (waits[i].loads > 0) loads.push_back({i, waits[i].loads, waits[i].waited});
  return loads;
}

}  // namespace

BlockTimes core_times(const CoreRequest& request) { return Calculation{request}.run(request); }

std::string core_times_json(const CoreRequest& request, const BlockTimes& times) {
  nlohmann::ordered_json blocks = nlohmann::ordered_json::object();
  for (const auto& [id, time] : times.blocks)
    blocks[std::to_string(id)] = {{"cycles", time.cycles},     {"alone", time.alone},           {"executions", time.executions},
                                  {"bound", time.bound},       {"resolution", time.resolution}, {"instructions", time.instructions},
                                  {"wide_256", time.wide_256}, {"wide_512", time.wide_512},     {"loads", waits_json(time.waits)},
                                  {"busiest", time.use.units}, {"fetching", time.use.fetching}};
  const nlohmann::ordered_json answer{
      {"llvm", llvm_version()}, {"cpu", request.cpu}, {"blocks", std::move(blocks)}, {"unknown", nlohmann::ordered_json(times.unknown)}};
  return answer.dump();
}

}  // namespace homenode
