#include "traces/capture/assembler/assembler.hpp"

#include <algorithm>

#include "traces/capture/assembler/names.hpp"
#include "traces/capture/assembler/state.hpp"

extern "C" {
#include "traces/capture/runtime/stream.h"
}

namespace homenode {

namespace {
constexpr std::uint64_t flush_every = 4 << 20;  // bytes of the stream: what is lost of finished executions if everything is killed
}

Assembler::Assembler(int descriptor, const AssembleOptions& options) : in_{descriptor}, options_{options}, writer_{options.output} {
  program_name_ = options.label.empty() ? std::filesystem::path{options.program}.filename().string() : options.label;
  program_name_ = as_utf8(program_name_);
  for (const std::string& word : options.arguments) {
    if (!arguments_.empty()) arguments_ += ' ';
    arguments_ += as_utf8(word);
  }
  begin_serial();
}

AssembleResult Assembler::run() {
  try {
    std::uint8_t opcode = HN_HELLO;
    while (!ended_ && in_.byte(opcode)) {
      if (opcode == HN_ACCESS || opcode == HN_PAIR) {
        take_short(opcode == HN_PAIR);
      } else {
        take_message(opcode);
        if (in_.received() > flushed_at_ + flush_every) flush();
      }
    }
    if (opcode != HN_LEAVING) leaving_.clear();
  } catch (const CaptureStream::Ended&) {
    result_.complete = false;
    leaving_.clear();
  }
  cut_ = !ended_;
  end_zero_fills();
  thread_ = 0;
  end_threads();
  if (in_parallel_) end_parallel();
  end_serial();
  finish();
  return result_;
}

// Losses of one place and reason are one, with their counts added.
void Assembler::add_loss(const Loss& loss) {
  for (Loss& known : losses_) {
    if (known.site == loss.site && known.reason == loss.reason) {
      known.count += loss.count;
      return;
    }
  }
  losses_.push_back(loss);
}

void Assembler::hand_over_tables() {
  for (; sites_handed_over_ < program_.sites.size(); ++sites_handed_over_) writer_.add(program_.sites[sites_handed_over_]);
  for (; regions_handed_over_ < regions_.size(); ++regions_handed_over_) writer_.add(regions_[regions_handed_over_]);
  for (; objects_handed_over_ < objects_.objects.size(); ++objects_handed_over_) writer_.add(objects_.objects[objects_handed_over_]);
}

// Of a program that is one stretch of serial code, the place of the first access says nothing.
void Assembler::name_serial_regions() {
  const std::map<std::string, std::string> names = program_.serial_names();
  const auto is_serial = [](const Region& region) { return region.kind == RegionKind::serial; };
  const bool is_one = parallel_count_ == 0 && std::count_if(regions_.begin(), regions_.end(), is_serial) == 1;
  for (Region& region : regions_) {
    const auto name = names.find(region.label);
    if (is_serial(region) && name != names.end()) region.label = is_one ? "main:serial" : name->second;
  }
}

// Executions that are finished, in whole frames: a capture of which nobody is left to finish the file keeps them.
void Assembler::flush() {
  flushed_at_ = in_.received();
  hand_over_tables();
  writer_.flush();
}

void Assembler::note_why_cut() {
  const AssembleOptions::Ending ending = options_.ending ? options_.ending() : AssembleOptions::Ending{};
  if (ending.asked) result_.complete = false;
  if (result_.complete) return;
  losses_.push_back(truncation(!ending.asked && !leaving_.empty() ? leaving_ : as_utf8(ending.why)));
}

void Assembler::finish() {
  note_serial_work();
  for (const Mark& mark : marks_) writer_.add(mark);  // nothing came after them
  program_.look_up_lines();
  objects_.name_objects();
  program_.note_clauses(regions_);
  name_serial_regions();
  hand_over_tables();
  for (std::size_t i = 0; i < program_.sites.size(); ++i) writer_.update(SiteId{i}, program_.sites[i]);
  for (std::size_t i = 0; i < regions_.size(); ++i) writer_.update(RegionId{i}, regions_[i]);
  for (std::size_t i = 0; i < objects_.objects.size(); ++i) writer_.update(ObjectId{i}, objects_.objects[i]);
  for (const TracedThread& thread : threads_) writer_.add(thread);
  if (!options_.work.empty()) {
    const TwinWork::Rates rates = work_.rates(options_.work);
    for (const auto& [region, work] : rates.work) writer_.work_rate(region, work);
    losses_.insert(losses_.end(), rates.losses.begin(), rates.losses.end());
    for (const RegionCode& code : rates.code) writer_.add(code);
    writer_.add(rates.executed);
  }
  note_why_cut();
  for (const Loss& loss : program_.losses) writer_.add(loss);
  for (const Loss& loss : losses_) writer_.add(loss);
  TraceMeta meta;
  meta.tool = "homenode";
  meta.compiler = "gcc -fsanitize=thread (homenode cc)";
  meta.program = program_name_;
  meta.arguments = arguments_;
  meta.capture_threads = team_;
  meta.page_size = page_size_;
  writer_.meta(meta);
  result_.content_hash = writer_.finish(result_.complete);
}

AssembleResult assemble(int descriptor, const AssembleOptions& options) { return Assembler{descriptor, options}.run(); }

}  // namespace homenode
