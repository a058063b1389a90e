// EXECUTION, and the records that speak of executions and regions: EDGE, MARK, CALIBRATION, LOSS, OUTSIDE, work rates.
#include "traces/format/records/fields.hpp"

namespace homenode::format {

void describe(auto& fields, Of<StoredExecution> auto& stored) {
  auto& execution = stored.execution;
  fields.number(stored.order);
  fields.id("an execution's region", execution.region);
  fields.bounded("an execution's ordinal", execution.ordinal);
  fields.signed_number(execution.iterations);
  fields.one_of("an execution's binding", execution.binding, Binding::replicated);
  fields.bounded("an execution's team", execution.team);
  fields.bounded("an execution's parallel construct", execution.parallel);
  fields.boolean(execution.barrier_after);
  fields.signed_number(execution.step);
  fields.number(execution.accesses);
  fields.number(execution.reads);
  fields.number(execution.writes);
  describe(fields, stored.extra.parent);
}
template struct Codec<RecordType::execution, StoredExecution>;

void describe(auto& fields, Of<Edge> auto& edge) {
  describe(fields, edge.predecessor);
  describe(fields, edge.successor);
  fields.one_of("an edge's kind", edge.kind, EdgeKind::match);
}
template struct Codec<RecordType::edge, Edge>;

void describe(auto& fields, Of<Mark> auto& mark) {
  describe(fields, mark.item);
  fields.number(mark.sequence);
  fields.one_of("a mark", mark.operation, MarkOperation::thread_type);
  fields.signed_number(mark.value);
  fields.id("a mark's object", mark.object);
  fields.string(mark.text);
}
template struct Codec<RecordType::mark, Mark>;

void describe(auto& fields, Of<Calibration> auto& calibration) {
  fields.id("a calibration's region", calibration.region);
  fields.string(calibration.cost_class);
  fields.real(calibration.cycles);
  fields.real(calibration.clock_hertz);
  fields.string(calibration.host);
  fields.boolean(calibration.measured);
}
template struct Codec<RecordType::calibration, Calibration>;

void describe(auto& fields, Of<Loss> auto& loss) {
  fields.id("a loss's site", loss.site);
  fields.string(loss.reason);
  fields.number(loss.count);
}
template struct Codec<RecordType::loss, Loss>;

void describe(auto& fields, Of<RegionCode> auto& code) {
  fields.id("a region with calls", code.region);
  fields.string(code.function);
  fields.string(code.library);
  fields.one_of("what is recorded of a call", code.recorded, RecordedOfCall::heap);
  fields.one_of("where instructions come from", code.basis, InstructionBasis::none);
  fields.real(code.calls);
  fields.real(code.instructions);
  fields.number(code.samples);
}
template struct Codec<RecordType::outside, RegionCode>;

void describe(auto& fields, Of<StoredRate> auto& stored) {
  fields.id("a work rate's region", stored.region);
  describe(fields, stored.rate.per_access);
  describe(fields, stored.rate.per_iteration);
}
template struct Codec<RecordType::segment, StoredRate>;

}  // namespace homenode::format
