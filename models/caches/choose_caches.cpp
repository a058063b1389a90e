#include "models/caches/choose_caches.hpp"

#include <algorithm>
#include <bit>

#include "models/caches/run_lru.hpp"
#include "models/caches/set_caches.hpp"
#include "sim/base/errors.hpp"

namespace homenode {

namespace {
constexpr const char* automatic = "auto";
constexpr std::int64_t sampled_iterations = 8;
constexpr std::uint64_t sampled_groups = 64;  // of each
// Of all iterations, where there are fewer than that: a program without parallel loops is one, and begins with what fills its arrays.
constexpr std::uint64_t looked_at = 4096;

// Any addresses do: objects apart from each other, each at the start of a page.
Address address_of(ObjectId object) { return Address{(std::uint64_t{object.index()} + 1) << 40}; }

struct Seen {
  double accesses = 0, touches = 0, lines = 0;
  void add(const Seen& other, double times = 1) {
    accesses += times * other.accesses;
    touches += times * other.touches;
    lines += times * other.lines;
  }
};

// The first `most` groups. What follows them, of `accesses` in all, is taken to be like the last half of these.
Seen look_at(LineTouches& touches, std::vector<LineTouch>& group, std::uint64_t most, double accesses) {
  Seen all, last;
  std::uint64_t count = 0;
  for (; count < most && touches.next(group); ++count) {
    if (std::has_single_bit(count)) last = {};
    Seen now{.touches = static_cast<double>(group.size())};
    for (const LineTouch& touch : group) {
      now.lines += static_cast<double>(touch.lines.size());
      now.accesses += static_cast<double>(touch.accesses);
    }
    all.add(now);
    last.add(now);
  }
  if (count == most && last.accesses > 0 && accesses > all.accesses) all.add(last, (accesses - all.accesses) / last.accesses);
  return all;
}

PolicyEntry<CacheMaker> run_caches() {
  return {"runs", "ranges of lines, an LRU stack a level: a row costs the same whatever its length", {}, [](const Parameters&) {
            return std::make_unique<CacheMaker>(CacheMaker{
                [](const Machine& machine, std::uint64_t) -> std::unique_ptr<CacheModel> { return std::make_unique<RunLru>(machine); }});
          }};
}

PolicyEntry<CacheMaker> line_caches() {
  return {
      "lines",
      "every set of every cache, line by line",
      {integer_parameter("sample", "", "follow one line in so many, with its sets; a power of two", 1, 1, 32)},
      [](const Parameters& parameters) {
        const auto one_in = static_cast<unsigned>(parameters.get("sample"));
        if (!std::has_single_bit(one_in))
          throw UsageError("cache model 'lines': sample=" + std::to_string(one_in) + "; allowed: 1, 2, 4, 8, 16, 32");
        return std::make_unique<CacheMaker>(CacheMaker{[one_in](const Machine& machine, std::uint64_t seed) -> std::unique_ptr<CacheModel> {
          return std::make_unique<SetCaches>(machine, seed, SetCaches::forwards_clean(machine), one_in);
        }});
      },
      {"lines:sample=8"}};
}

}  // namespace

std::vector<RunLength> run_lengths(const Workload& workload, const LineTouchOptions& options) {
  std::vector<RunLength> result(workload.regions.size());
  std::vector<std::size_t> longest(workload.regions.size(), workload.executions.size());  // the execution to sample
  for (std::size_t i = 0; i < workload.executions.size(); ++i) {
    const Execution& execution = workload.executions[i];
    const std::size_t region = execution.region.index();
    result[region].accesses += execution.accesses;
    std::size_t& best = longest[region];
    if (execution.accesses > 0 && (best == workload.executions.size() || execution.accesses > workload.executions[best].accesses)) best = i;
  }
  LineTouches touches{options};
  std::vector<LineTouch> group;
  for (std::size_t region = 0; region < result.size(); ++region) {
    result[region].label = workload.regions[region].label;
    if (longest[region] == workload.executions.size()) continue;
    const ExecutionId id{longest[region]};
    const auto body = workload.body(id);
    const std::int64_t iterations = workload.executions[longest[region]].iterations;
    const std::int64_t samples = std::min(sampled_iterations, iterations);
    const bool is_short = samples < sampled_iterations;
    const std::uint64_t most = is_short ? looked_at / static_cast<std::uint64_t>(samples) : sampled_groups;
    const double each = is_short ? static_cast<double>(workload.executions[longest[region]].accesses) / static_cast<double>(samples) : 0;
    Seen seen;
    for (std::int64_t i = 0; i < samples; ++i) {
      // Enough neighbours for runs that reach over iterations; few of them are looked at one by one.
      const std::int64_t first = iterations * i / samples;
      touches.start(workload.patterns, *body, first, is_short ? first + 1 : iterations, address_of);
      seen.add(look_at(touches, group, most, each));
    }
    if (seen.accesses == 0) continue;
    const double share = static_cast<double>(result[region].accesses) / seen.accesses;
    result[region].touches = share * seen.touches;
    result[region].lines = share * seen.lines;
  }
  return result;
}

namespace {

TouchLengths lengths_of(const std::vector<RunLength>& regions) {
  double touches = 0, lines = 0;
  const RunLength* most = nullptr;
  for (const RunLength& region : regions) {
    touches += region.touches;
    lines += region.lines;
    if (!most || region.touches > most->touches) most = &region;
  }
  if (!most || touches == 0) return {};
  return {lines / touches, most->label, most->lines_per_touch(), lines};
}

// Of the options, what touches are cut by; outstanding misses are not.
std::string what_cuts_touches(const LineTouchOptions& options) {
  return std::to_string(options.line_bytes) + ' ' + std::to_string(options.group_lines) + ' ' +
         std::to_string(static_cast<int>(options.stores));
}

}  // namespace

namespace {

CacheChoice sampled(const std::string& name, unsigned one_in) {
  return {one_in == 1 ? name : name + ":sample=" + std::to_string(one_in), "", 0, one_in};
}

// lines:8 is lines:sample=8, and a sample of all is none.
CacheChoice canonical(const std::string& name) {
  const PolicySpec spec = parse_policy_spec(name);
  return sampled(spec.name, spec.settings.empty() ? 1 : static_cast<unsigned>(std::stoul(spec.settings.front().second)));
}

}  // namespace

CacheChoice choose_caches(const std::string& name, const Workload& workload, const Machine& machine, const LineTouchOptions& options) {
  check_caches(name);
  if (name != automatic) return canonical(name);
  const auto found = workload.touch_lengths.get(what_cuts_touches(options), [&] { return lengths_of(run_lengths(workload, options)); });
  if (found->lines_per_touch == 0) return {"runs", "", 0};
  const bool by_lines = found->lines_per_touch < short_run;
  const bool many = by_lines && found->lines > many_lines && LineSample::allows(machine, sample_of_many);
  CacheChoice choice = sampled(by_lines ? "lines" : "runs", many ? sample_of_many : 1);
  choice.region = found->region;
  choice.lines_per_touch = found->lines_per_touch_of_region;
  return choice;
}

bool is_by_lines(const std::string& name) { return name != automatic && parse_policy_spec(name).name == "lines"; }

const Registry<CacheMaker>& cache_models() {
  static const Registry<CacheMaker> registry{"cache model", {run_caches(), line_caches()}};
  return registry;
}

void check_caches(const std::string& name) {
  if (name == automatic) return;
  std::vector<std::string> names{automatic};
  for (const auto& model : cache_models().entries()) names.push_back(model.name);
  const std::string found = parse_policy_spec(name).name;
  if (std::find(names.begin(), names.end(), found) == names.end()) throw UsageError(unknown_name("cache model", found, names));
  cache_models().make(name);
}

std::unique_ptr<CacheModel> make_caches(const std::string& name, const Machine& machine, std::uint64_t seed) {
  return cache_models().make(name)->make(machine, seed);
}

}  // namespace homenode
