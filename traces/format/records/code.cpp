// CODE_BLOCK, CODE_PLACE, CODE_WINDOW, CODE_COUNT, CODE_HOST, MEASURED_TIME: the machine code that ran, and how long it took
// (sim/program/executed_code.hpp).
#include "traces/format/records/fields.hpp"
#include "traces/format/records/records.hpp"

namespace homenode::format {

void describe(auto& fields, Of<CodeBlock> auto& block) {
  fields.text(block.bytes);
  fields.boolean(block.stepped);
  fields.number(block.address);
  fields.bounded("instructions of a block", block.instructions);
  fields.string(block.file);
  fields.bounded("a block's line", block.line);
  fields.string(block.function);
  fields.string(block.library);
  fields.real(block.nanoseconds);
  fields.bounded("what a block calls", block.calls);
}
template struct Codec<RecordType::code_block, CodeBlock>;

void describe(auto& fields, Of<CodePlace> auto& place) {
  fields.bounded("a block with a place", place.block);
  fields.bounded("an instruction with a place", place.instruction);
  fields.string(place.file);
  fields.bounded("an instruction's line", place.line);
}
template struct Codec<RecordType::code_place, CodePlace>;

void describe(auto& fields, Of<CodeWindow> auto& window) {
  const std::size_t runs = fields.count("runs of a window", window.blocks, 2);
  fields.numbers("a window's block", window.blocks, runs);
  fields.numbers("times of a window's block", window.times, runs);
}
template struct Codec<RecordType::code_window, CodeWindow>;

void describe(auto& fields, Of<CodeCount> auto& count) {
  fields.id("a region with code", count.region);
  fields.bounded("a counted block", count.block);
  fields.real(count.executions);
  fields.real(count.mispredictions);
}
template struct Codec<RecordType::code_count, CodeCount>;

void describe(auto& fields, Of<CodeHost> auto& host) { fields.real(host.hertz); }
template struct Codec<RecordType::code_host, CodeHost>;

void describe(auto& fields, Of<MeasuredTime> auto& time) {
  const std::size_t regions = fields.count("regions of a measured time", time.regions, 1);
  for (std::size_t i = 0; i < regions; ++i) fields.id("a region that was timed", time.regions[i]);
  fields.real(time.seconds);
}
template struct Codec<RecordType::measured_time, MeasuredTime>;

}  // namespace homenode::format
