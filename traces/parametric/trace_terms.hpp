// Traces as terms and back. The bodies of executions are in the canonical form of the content hash (content_hash.hpp): the fewest
// blocks, and each access at (object, offset, shift). So a term does not depend on the team of the capture or on slot numbers.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/program/workload_builder.hpp"
#include "traces/format/trace_file.hpp"
#include "traces/parametric/term.hpp"

namespace homenode::parametric {

struct TermsOfTrace {
  TermPointer root;
  std::vector<WorkCounts> work;  // of all executions of a region, by region
  struct Sums {
    double accesses = 0, iterations = 0;
  };
  std::vector<Sums> sums;  // by region
};

// A trace made of a skeleton and numbers: all that a file holds except work counts.
struct PredictedTrace {
  std::shared_ptr<MemoryWorkload> workload;
  std::uint32_t threads = 1;
  std::vector<SiteExtra> site_extras{};
  std::vector<ThreadExtra> thread_extras{};
  std::vector<ExecutionExtra> execution_extras{};
  std::vector<std::vector<ItemOrigin>> origins{};  // by execution
  std::vector<Edge> edges{};
  std::vector<Mark> marks{};
};

// Knows the sites, kinds of records and irregular streams of all captures of one program.
class TraceTerms {
public:
  // Throws UsageError for what cannot be extrapolated: a truncated trace, cost classes, too many numbers.
  TermsOfTrace encode(const TraceFile&, const std::string& file);
  PredictedTrace decode(const Term& root, std::span<const std::int64_t> numbers) const;

private:
  class Encoder;
  class Decoder;
  enum class What : std::uint8_t {
    trace,
    object,
    thread,
    region,
    execution,
    origin,
    block,
    run,
    stream,
    access,
    heap,
    sync,
    mark,
    edge,
    loss
  };
  // A kind with what its records have in common, to make records of it again.
  struct Kind {
    RecordKind record;
    What what{};
    std::size_t prototype = 0;  // in the table of its `what`
  };
  struct Hole {  // a reference that is missing where others of the kind have one, and so no number
    bool parent = false, creator = false, object = false, successor = false;
  };
  template <class Prototype>
  const RecordKind& kind(What, std::vector<Prototype>& prototypes, const Prototype&, std::string identity, std::string title,
                         std::vector<std::string> fields);
  const Kind& known(const Term&) const;

  std::deque<Kind> kinds_;  // addresses stay
  std::map<std::string, Kind*> by_identity_;
  std::map<const RecordKind*, const Kind*> by_record_;
  std::vector<Site> sites_;
  std::vector<SiteExtra> site_extras_;
  std::map<std::pair<std::string, std::size_t>, std::size_t> site_numbers_;  // by place in the source and order in an iteration

  std::vector<TracedObject> objects_;
  std::vector<TracedThread> threads_;
  std::vector<Region> regions_;
  std::vector<std::pair<Execution, Hole>> executions_;
  std::vector<std::pair<ItemOrigin, Hole>> origins_;
  std::vector<AccessRun> runs_;
  std::vector<IrregularStream> streams_;  // long ones; slots: 0, 1 ... by first use; offsets from the slot's first access
  std::vector<HeapEvent> heap_events_;
  std::vector<SyncEvent> sync_events_;
  std::vector<std::pair<Mark, Hole>> marks_;
  std::vector<std::pair<Edge, Hole>> edges_;
  std::vector<Loss> losses_;
  std::vector<int> nothing_;  // of kinds without anything in common
};

}  // namespace homenode::parametric
