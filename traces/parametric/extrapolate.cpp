#include "traces/parametric/extrapolate.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>
#include <tuple>

#include "sim/base/errors.hpp"
#include "traces/format/content_hash.hpp"
#include "traces/format/invariants.hpp"
#include "traces/format/trace_writer.hpp"
#include "traces/parametric/law.hpp"
#include "traces/parametric/parameters.hpp"
#include "traces/parametric/trace_terms.hpp"

namespace homenode {

using parametric::Laws;
using parametric::Made;
using parametric::Parameters;
using parametric::Point;
using parametric::PredictedTrace;
using parametric::TermPointer;
using parametric::TermsOfTrace;
using parametric::TraceTerms;

namespace {

struct Capture {
  std::unique_ptr<TraceFile> trace;
  Made made;
};

Capture open(const std::filesystem::path& path) {
  Capture capture{std::make_unique<TraceFile>(path), {}};
  const TraceMeta& meta = capture.trace->meta;
  capture.made = {path.filename().string(), meta.program, meta.arguments, meta.capture_threads};
  for (const std::string& feature : meta.features)
    if (feature.starts_with(extrapolated_feature))
      throw UsageError("'" + capture.made.file + "' is itself extrapolated; allowed: captures");
  return capture;
}

std::vector<Made> made_of(const std::vector<Capture>& captures) {
  std::vector<Made> result;
  for (const Capture& capture : captures) result.push_back(capture.made);
  return result;
}

constexpr double WorkCounts::*work_classes[] = {&WorkCounts::instructions, &WorkCounts::integer, &WorkCounts::fp_add,
                                                &WorkCounts::fp_multiply,  &WorkCounts::fp_fma,  &WorkCounts::divide,
                                                &WorkCounts::load,         &WorkCounts::store,   &WorkCounts::branch};

// How much more accesses an iteration must have in one capture than in another, for two rates to be told apart.
constexpr double least_spread = 0.05;

// A region's instructions as so many per access and so many per iteration, from the captures with the fewest and the most accesses.
WorkRate interpolated_rate(const std::vector<TermsOfTrace>& terms, std::size_t region) {
  const auto accesses = [&](const TermsOfTrace& a, const TermsOfTrace& b) { return a.sums[region].accesses < b.sums[region].accesses; };
  const auto [least, most] = std::minmax_element(terms.begin(), terms.end(), accesses);
  const TermsOfTrace::Sums &small = least->sums[region], &large = most->sums[region];
  WorkRate result;
  for (const auto work_class : work_classes) {
    const double small_work = least->work[region].*work_class, large_work = most->work[region].*work_class;
    double per_access = 0, per_iteration = 0;
    const double determinant = small.accesses * large.iterations - large.accesses * small.iterations;
    const bool independent = std::abs(determinant) > least_spread * std::abs(large.accesses * small.iterations);
    if (independent) {
      per_access = (small_work * large.iterations - large_work * small.iterations) / determinant;
      per_iteration = (small.accesses * large_work - large.accesses * small_work) / determinant;
    }
    if (!independent || per_access < 0 || per_iteration < 0) {
      per_access = large.accesses > 0 ? large_work / large.accesses : 0;
      per_iteration = large.accesses > 0 || large.iterations <= 0 ? 0 : large_work / large.iterations;
    }
    result.per_access.*work_class = per_access;
    result.per_iteration.*work_class = per_iteration;
  }
  return result;
}

WorkCounts total(const WorkRate& rate, const TermsOfTrace::Sums& sums) {
  WorkCounts result = rate.per_access.scaled(sums.accesses);
  result += rate.per_iteration.scaled(sums.iterations);
  return result;
}

// The region's instructions in all as a law of the parameters, as the counts of the trace are; spread over its accesses.
WorkRate lawful_rate(const std::vector<TermsOfTrace>& terms, std::size_t region, const Laws& laws, const Laws::At& at,
                     const TermsOfTrace::Sums& sums) {
  WorkRate result;
  for (const auto work_class : work_classes) {
    std::vector<std::int64_t> values;
    for (const TermsOfTrace& of : terms) values.push_back(std::llround(of.work[region].*work_class));
    const auto form = laws.form_of(values);
    if (!form) continue;
    const Laws::Value value = at.value(*form, values);
    const double counted = std::max(0.0, static_cast<double>(value.numerator) / static_cast<double>(value.denominator));
    if (sums.accesses > 0) {
      result.per_access.*work_class = counted / sums.accesses;
    } else if (sums.iterations > 0) {
      result.per_iteration.*work_class = counted / sums.iterations;
    }
  }
  return result;
}

// What the content hash leaves out. Empty if equal, else what differs.
std::string difference_beyond_hash(const PredictedTrace& predicted, const TraceFile& found) {
  const auto equal = [](const auto& a, const auto& b, const auto& key) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const auto& x, const auto& y) { return key(x) == key(y); });
  };
  const auto item = [](const ItemReference& reference) { return std::tuple{reference.execution, reference.iteration}; };
  const Workload& workload = *predicted.workload;
  if (!equal(predicted.marks, found.marks, [&](const Mark& mark) {
        return std::tuple{item(mark.item), mark.sequence, mark.operation, mark.value, mark.object, mark.text};
      }))
    return "marks";
  if (!equal(predicted.edges, found.edges, [&](const Edge& edge) {
        return std::tuple{item(edge.predecessor), item(edge.successor), edge.kind};
      }))
    return "dependences";
  if (!equal(workload.threads, found.threads, [](const TracedThread& thread) {
        return std::tuple{thread.parent, thread.routine, thread.rank};
      }))
    return "threads";
  if (!equal(predicted.thread_extras, found.thread_extras, [](const ThreadExtra& extra) {
        return std::tuple{extra.create_event, extra.join_event};
      }))
    return "creation and joining of threads";
  if (!equal(workload.objects, found.objects, [](const TracedObject& object) {
        return std::tuple{object.bytes, object.symbol, object.reallocated_from, object.owner_hint, object.thread_private};
      }))
    return "objects";
  if (!equal(workload.executions, found.executions, [](const Execution& execution) {
        return std::tuple{execution.parallel, execution.accesses};
      }))
    return "parallel constructs";
  if (!equal(predicted.execution_extras, found.execution_extras, [&](const ExecutionExtra& extra) { return item(extra.parent); }))
    return "parents of executions";
  for (std::size_t e = 0; e < workload.executions.size(); ++e) {
    if (!equal(predicted.origins[e], found.origins(ExecutionId{e}), [&](const ItemOrigin& origin) {
          return std::tuple{origin.first, item(origin.parent), origin.creator, origin.first_sequence, origin.thread_body};
        }))
      return "origins of items";
  }
  return {};
}

class Extrapolator {
public:
  explicit Extrapolator(const ExtrapolationRequest& request)
      : request_{request},
        captures_{opened(request)},
        parameters_{made_of(captures_)},
        laws_{parameters_.names(), parameters_.captures()} {}

  Extrapolation run() {
    // Everything that is wrong with the request, before anything that takes time.
    const Capture held_out = open(request_.check);
    const Point check = parameters_.of(held_out.made), asked = parameters_.of(request_.set);
    for (const Point& point : parameters_.captures()) {
      if (point != check) continue;
      throw UsageError("'" + held_out.made.file + "' has the parameters of one of the captures (" + parameters_.text(check) +
                       "); allowed with --check: a capture at other values, which shows that the fit holds");
    }
    fit();
    verify(held_out, check);
    return write(asked, check, held_out);
  }

private:
  static std::vector<Capture> opened(const ExtrapolationRequest& request) {
    if (request.captures.size() < 3) {
      throw UsageError(std::to_string(request.captures.size()) +
                       " captures; allowed: at least three, of different parameters, and a fourth with --check");
    }
    if (request.check.empty()) throw UsageError("no capture to hold the fit against; allowed: --check FILE, a capture at other parameters");
    std::vector<Capture> captures;
    for (const std::filesystem::path& path : request.captures) captures.push_back(open(path));
    return captures;
  }

  std::string at(std::size_t capture) const { return parameters_.text(parameters_.captures()[capture]); }

  void fit() {
    for (const Capture& capture : captures_) terms_.push_back(codec_.encode(*capture.trace, capture.made.file));
    const TermPointer& root = terms_.front().root;
    for (std::size_t c = 1; c < terms_.size(); ++c) {
      if (terms_[c].root->skeleton != root->skeleton) refuse_structure(*root, at(0), *terms_[c].root, at(c));
    }
    const std::size_t size = root->numbers.size();
    values_.resize(size * terms_.size());
    forms_.resize(size);
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t c = 0; c < terms_.size(); ++c) values_[i * terms_.size() + c] = terms_[c].root->numbers[i];
      const auto form = laws_.form_of(values(i));
      if (!form) refuse_number(i);
      forms_[i] = *form;
    }
  }

  std::span<const std::int64_t> values(std::size_t number) const {
    return std::span{values_}.subspan(number * terms_.size(), terms_.size());
  }

  [[noreturn]] static void refuse_structure(const parametric::Term& a, const std::string& at_a, const parametric::Term& b,
                                            const std::string& at_b) {
    throw UsageError(
        "the structure at " + at_a + " is another than at " + at_b + ": " + parametric::first_difference(a, b) +
        "; allowed: captures whose regions differ in counts, offsets and strides only, each repeated part at least three times");
  }

  std::string captured(std::size_t number) const {
    std::string text;
    for (std::size_t c = 0; c < terms_.size(); ++c) text += (c > 0 ? ", " : "") + std::to_string(values(number)[c]) + " at " + at(c);
    return text;
  }

  [[noreturn]] void refuse_number(std::size_t number) const {
    throw UsageError(parametric::place_of(*terms_.front().root, number) + " is not affine, nor a polynomial that " +
                     std::to_string(terms_.size()) + " captures determine: " + captured(number));
  }

  std::vector<std::int64_t> numbers_at(const Point& point) const {
    const Laws::At at = laws_.at(point);
    std::vector<std::int64_t> result(forms_.size());
    for (std::size_t i = 0; i < result.size(); ++i) {
      const Laws::Value value = at.value(forms_[i], values(i));
      if (!value.is_number()) {
        throw UsageError(parametric::place_of(*terms_.front().root, i) + " would be " + value.text() + " at " + parameters_.text(point) +
                         "; allowed: values at which it is a whole number of 64 bits, as in the captures (" + captured(i) + ")");
      }
      result[i] = value.number();
    }
    return result;
  }

  PredictedTrace predict(const std::vector<std::int64_t>& numbers) const { return codec_.decode(*terms_.front().root, numbers); }

  void verify(const Capture& held_out, const Point& point) {
    held_out_terms_ = codec_.encode(*held_out.trace, held_out.made.file);
    const parametric::Term &model = *terms_.front().root, &found = *held_out_terms_.root;
    const std::string here = parameters_.text(point), refused = "the held-out capture '" + held_out.made.file + "' is not predicted: ";
    const bool comparable = model.skeleton == found.skeleton;
    std::vector<std::int64_t> numbers;
    try {
      numbers = numbers_at(point);
    } catch (const UsageError& error) { throw UsageError(refused + error.what()); }
    for (std::size_t i = 0; comparable && i < numbers.size(); ++i) {
      if (numbers[i] == found.numbers[i]) continue;
      throw UsageError(refused + parametric::place_of(model, i) + " would be " + std::to_string(numbers[i]) + " at " + here + ", is " +
                       std::to_string(found.numbers[i]) + "; it is not " + laws_.forms()[forms_[i]].name + " (" + captured(i) + ")");
    }
    const PredictedTrace predicted = predict(numbers);
    const std::string hash = content_hash(*predicted.workload);
    if (hash != held_out.trace->content_hash) {
      if (!comparable) refuse_structure(model, at(0), found, here);
      throw UsageError(refused + "equal structure, but content hash " + hash + " where the capture has " + held_out.trace->content_hash);
    }
    const std::string rest = difference_beyond_hash(predicted, *held_out.trace);
    if (!rest.empty()) throw UsageError(refused + "its " + rest + " differ");
  }

  static std::vector<TermsOfTrace::Sums> sums_of(const Workload& workload) {
    std::vector<TermsOfTrace::Sums> sums(workload.regions.size());
    for (const Execution& execution : workload.executions) {
      sums[execution.region.index()].accesses += static_cast<double>(execution.accesses);
      sums[execution.region.index()].iterations += static_cast<double>(execution.iterations);
    }
    return sums;
  }

  Extrapolation write(const Point& asked, const Point& check, const Capture& held_out) {
    PredictedTrace predicted = predict(numbers_at(asked));
    Workload& workload = *predicted.workload;
    const std::vector<std::string> problems = broken_invariants(workload);
    if (!problems.empty()) throw UsageError("at " + parameters_.text(asked) + " the trace would not hold together: " + problems.front());
    Extrapolation result;
    result.captured_at = parameters_.text(parameters_.captures());
    result.checked_at = parameters_.text(check);
    result.asked_at = parameters_.text(asked);
    result.arguments = parameters_.arguments(asked);
    result.check_hash = held_out.trace->content_hash;
    result.executions = workload.executions.size();
    for (const Execution& execution : workload.executions) result.accesses += execution.accesses;
    for (const TracedObject& object : workload.objects) result.footprint_bytes += object.bytes;
    for (const Laws::Form& form : laws_.forms()) result.forms.push_back({form.name, 0, form.confirmed});
    for (const std::size_t form : forms_) ++result.forms[form].numbers;
    std::erase_if(result.forms, [](const Extrapolation::Form& form) { return form.numbers == 0; });

    // Of two interpolations of a region's instructions, the one that the held-out capture is nearer to.
    std::vector<WorkRate> work;
    double wrong = 0, instructions = 0;
    const Laws::At at_check = laws_.at(check), at_asked = laws_.at(asked);
    const std::vector<TermsOfTrace::Sums> sums = sums_of(workload);
    for (std::size_t r = 0; r < workload.regions.size(); ++r) {
      const WorkRate rate = interpolated_rate(terms_, r);
      const double counted = held_out_terms_.work[r].instructions;
      const auto error = [&](const WorkRate& of) { return std::abs(total(of, held_out_terms_.sums[r]).instructions - counted); };
      const double by_rates = error(rate), by_law = error(lawful_rate(terms_, r, laws_, at_check, held_out_terms_.sums[r]));
      work.push_back(by_law < by_rates ? lawful_rate(terms_, r, laws_, at_asked, sums[r]) : rate);
      wrong += std::min(by_law, by_rates);
      instructions += counted;
    }
    result.work_error = instructions > 0 ? wrong / instructions : 0;
    for (std::size_t p = 0; p < asked.size(); ++p) {
      std::int64_t spacing = 0;
      for (const Point& point : parameters_.captures()) spacing = std::gcd(spacing, point[p] - parameters_.captures()[0][p]);
      spacing = std::gcd(spacing, check[p] - parameters_.captures()[0][p]);
      if (spacing < 2 || (asked[p] - check[p]) % spacing == 0) continue;
      result.remarks.push_back(parameters_.names()[p] + "=" + std::to_string(asked[p]) + " is not " + std::to_string(check[p]) +
                               " and a multiple of " + std::to_string(spacing) +
                               ", as the captures are: sizes that the program or its allocator rounds would not show");
    }

    const TraceMeta& captured = captures_.front().trace->meta;
    const std::string origin = std::string{extrapolated_feature} + " from captures at " + result.captured_at + "; a capture at " +
                               result.checked_at + " was predicted exactly";
    TraceWriter writer{request_.output};
    TraceMeta meta = captured;
    meta.tool = "homenode extrapolate";
    meta.arguments = result.arguments;
    meta.capture_threads = predicted.threads;
    meta.features.push_back(origin);
    writer.meta(meta);
    for (std::size_t s = 0; s < workload.sites.size(); ++s) writer.add(workload.sites[s], predicted.site_extras[s]);
    for (std::size_t t = 0; t < workload.threads.size(); ++t) writer.add(workload.threads[t], predicted.thread_extras[t]);
    for (const Region& region : workload.regions) writer.add(region);
    for (const TracedObject& object : workload.objects) writer.add(object);
    for (const Loss& loss : workload.losses) writer.add(loss);
    writer.add(Loss{SiteId::none(), origin + "; instructions are interpolated, those of libraries are left out", result.accesses});
    for (std::size_t e = 0; e < workload.executions.size(); ++e) {
      const Execution& execution = workload.executions[e];
      const ExecutionId id = writer.open_execution(execution.region, e);
      for (ItemBlock block : workload.body(ExecutionId{e})->blocks) {
        block.pattern = writer.add(execution.region, workload.patterns[block.pattern.index()]);
        writer.append(id, block);
      }
      for (const ItemOrigin& of : predicted.origins[e]) writer.origin(id, of);
      writer.close_execution(id, execution, predicted.execution_extras[e]);
    }
    for (const Edge& edge : predicted.edges) writer.add(edge);
    for (const Mark& mark : predicted.marks) writer.add(mark);
    for (std::size_t r = 0; r < work.size(); ++r) writer.work_rate(RegionId{r}, work[r]);
    result.content_hash = writer.finish(true);
    return result;
  }

  const ExtrapolationRequest& request_;
  std::vector<Capture> captures_;
  Parameters parameters_;
  Laws laws_;
  TraceTerms codec_;
  std::vector<TermsOfTrace> terms_;   // by capture
  std::vector<std::int64_t> values_;  // by number, one a capture
  std::vector<std::size_t> forms_;    // by number
  TermsOfTrace held_out_terms_;
};

}  // namespace

Extrapolation extrapolate(const ExtrapolationRequest& request) { return Extrapolator{request}.run(); }

}  // namespace homenode
