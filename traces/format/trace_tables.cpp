// The records of a file become the tables of a workload.
#include <algorithm>
#include <array>
#include <functional>

#include "sim/base/text.hpp"
#include "traces/format/records/codec.hpp"
#include "traces/format/trace_file.hpp"

namespace homenode {

using format::ByteReader;
using format::DecodeError;

namespace {

// What a process can have at most: 47 bits of addresses, and no alignment beyond the largest page.
constexpr std::uint64_t most_object_bytes = std::uint64_t{1} << 47, most_alignment = std::uint64_t{1} << 30;

// The row that a table's record describes: rows come in order, and a row may come again.
template <class Row>
std::size_t row_in(std::vector<Row>& table, ByteReader& fields, const char* what) {
  const std::size_t row = fields.bounded<std::size_t>(what, table.size());
  if (row == table.size()) table.emplace_back();
  return row;
}

// An execution's row: they become known when their first blocks are written, which may be out of order, but every one comes in time.
// A row far beyond the size of the file is an error, not a reason to allocate: an execution takes some 50 bytes in its frames.
template <class Row>
std::size_t execution_in(std::vector<Row>& table, ByteReader& fields, const char* what, std::uint64_t most_unpacked) {
  const auto row = fields.bounded<std::size_t>(what, 0xFFFFFFFE);
  if (row > most_unpacked / 64) throw DecodeError{"execution " + std::to_string(row) + " in so small a file"};
  if (row >= table.size()) table.resize(row + 1);
  return row;
}

}  // namespace

// Takes the records of one frame, each by the function of its type.
class TraceFile::Taker {
public:
  Taker(TraceFile& file, std::uint64_t frame_offset) : file_{file}, frame_offset_{frame_offset} {}
  // False for a type that is no frame's.
  bool take(RecordType, ByteReader&);

private:
  using Function = void (Taker::*)(ByteReader&);
  static constexpr std::array<Function, last_record_type + 1> table() {
    std::array<Function, last_record_type + 1> takers{};
    const auto set = [&](RecordType type, Function function) { takers[static_cast<std::size_t>(type)] = function; };
    set(RecordType::meta, &Taker::meta);
    set(RecordType::string, &Taker::string);
    set(RecordType::site, &Taker::site);
    set(RecordType::thread, &Taker::thread);
    set(RecordType::region, &Taker::region);
    set(RecordType::object, &Taker::object);
    set(RecordType::execution, &Taker::execution);
    set(RecordType::pattern, &Taker::pattern);
    set(RecordType::item, &Taker::item);
    set(RecordType::edge, &Taker::append<format::EdgeCodec, &TraceFile::edges>);
    set(RecordType::mark, &Taker::append<format::MarkCodec, &TraceFile::marks>);
    set(RecordType::calibration, &Taker::append<format::CalibrationCodec, &TraceFile::calibrations>);
    set(RecordType::loss, &Taker::append<format::LossCodec, &TraceFile::losses>);
    set(RecordType::outside, &Taker::append<format::OutsideCodec, &TraceFile::code>);
    set(RecordType::code_block, &Taker::executed<format::CodeBlockCodec, &ExecutedCode::blocks>);
    set(RecordType::code_place, &Taker::executed<format::CodePlaceCodec, &ExecutedCode::places>);
    set(RecordType::code_window, &Taker::executed<format::CodeWindowCodec, &ExecutedCode::windows>);
    set(RecordType::code_count, &Taker::executed<format::CodeCountCodec, &ExecutedCode::counts>);
    set(RecordType::code_host, &Taker::host);
    set(RecordType::measured_time, &Taker::executed<format::MeasuredTimeCodec, &ExecutedCode::times>);
    set(RecordType::segment, &Taker::rate);
    set(RecordType::index, &Taker::index);
    set(RecordType::footer, &Taker::footer);
    return takers;
  }

  template <class RecordCodec>
  typename RecordCodec::Value decode(ByteReader& in) const {
    return RecordCodec::decode(in, look_up_);
  }
  template <class RecordCodec, auto list>
  void append(ByteReader& in) {
    (file_.*list).push_back(decode<RecordCodec>(in));
  }
  template <class RecordCodec, auto list>
  void executed(ByteReader& in) {
    (file_.executed.*list).push_back(decode<RecordCodec>(in));
  }
  void host(ByteReader& in) { file_.executed.host_hertz = decode<format::CodeHostCodec>(in).hertz; }
  void meta(ByteReader&);
  void string(ByteReader& in) {
    const std::size_t row = row_in(file_.strings_, in, "a string's id");
    file_.strings_[row] = valid_utf8(decode<format::StringCodec>(in).text);
  }
  void site(ByteReader& in) {
    const std::size_t row = row_in(file_.sites, in, "a site's id");
    file_.site_extras.resize(file_.sites.size());
    auto stored = decode<format::SiteCodec>(in);
    file_.sites[row] = std::move(stored.site);
    file_.site_extras[row] = stored.extra;
  }
  void thread(ByteReader& in) {
    const std::size_t row = row_in(file_.threads, in, "a thread's id");
    file_.thread_extras.resize(file_.threads.size());
    auto stored = decode<format::ThreadCodec>(in);
    file_.threads[row] = std::move(stored.thread);
    file_.thread_extras[row] = stored.extra;
  }
  void region(ByteReader& in) {
    const std::size_t row = row_in(file_.regions, in, "a region's id");
    file_.regions[row] = decode<format::RegionCodec>(in);
  }
  void object(ByteReader& in) {
    const std::size_t row = row_in(file_.objects, in, "an object's id");
    file_.objects[row] = decode<format::ObjectCodec>(in);
  }
  void execution(ByteReader& in) {
    const std::size_t row = execution_in(file_.stored_, in, "an execution's id", file_.reader_.most_unpacked());
    file_.stored_[row] = decode<format::ExecutionCodec>(in);
  }
  void pattern(ByteReader& in) {
    format::StoredPattern stored = format::decode_pattern(in, file_.record_names_, look_up_);
    file_.patterns.push_back(std::move(stored.pattern));
    file_.segments.push_back(std::move(stored.segments));
    file_.pattern_regions.push_back(stored.region);
  }
  // Only for a recovery: which frames hold which execution.
  void item(ByteReader& in) {
    const std::size_t row = execution_in(file_.frames_, in, "an item's execution", file_.reader_.most_unpacked());
    std::vector<std::uint64_t>& offsets = file_.frames_[row].offsets;
    if (offsets.empty() || offsets.back() != frame_offset_) offsets.push_back(frame_offset_);
  }
  void rate(ByteReader& in) {
    const auto stored = decode<format::RateCodec>(in);
    file_.rates_[stored.region] = stored.rate;
  }
  void index(ByteReader& in) {
    const std::size_t row = row_in(file_.frames_, in, "an execution's id in the index");
    format::FrameOffsets frames = decode<format::IndexCodec>(in);
    const std::vector<std::uint64_t>& offsets = frames.offsets;
    if (std::adjacent_find(offsets.begin(), offsets.end(), std::greater_equal<>{}) != offsets.end())
      throw DecodeError{"frames of execution " + std::to_string(row) + " that do not ascend"};
    file_.frames_[row] = std::move(frames);
  }
  void footer(ByteReader&);

  TraceFile& file_;
  std::uint64_t frame_offset_;
  const format::LookUp look_up_ = [this](std::uint64_t id) -> const std::string& {
    const std::vector<std::string>& strings = file_.strings_;
    if (id < strings.size()) return strings[id];
    throw DecodeError{"string " + std::to_string(id) + " is not defined; " + std::to_string(strings.size()) + " strings are"};
  };
};

bool TraceFile::Taker::take(RecordType type, ByteReader& in) {
  static constexpr auto takers = table();
  const Function taker = takers[static_cast<std::size_t>(type)];
  if (taker == nullptr) return false;
  (this->*taker)(in);
  return true;
}

void TraceFile::Taker::meta(ByteReader& in) {
  format::StoredMeta stored = decode<format::MetaCodec>(in);
  TraceMeta& meta = file_.meta = std::move(stored.meta);
  if (meta.page_size == 0 || (meta.page_size & (meta.page_size - 1)) != 0) {
    throw DecodeError{"a page of " + std::to_string(meta.page_size) + " bytes; a power of two is allowed"};
  }
  for (std::string* text : {&meta.tool, &meta.compiler, &meta.compiler_flags, &meta.program, &meta.arguments}) *text = valid_utf8(*text);
  for (std::string& feature : meta.features) feature = valid_utf8(feature);
  for (std::string& name : stored.record_names) name = brief(name);
  file_.lacks.clear();
  for (const std::string& feature : meta.features) {
    if (feature.starts_with(lacking_feature)) file_.lacks.push_back(feature.substr(lacking_feature.size()));
  }
  file_.record_names_ = std::move(stored.record_names);
  file_.record_names_.insert(file_.record_names_.begin(), std::string{});  // type 0 is no record's
  file_.program = meta.program;
  file_.compiler = meta.compiler;
  file_.arguments = meta.arguments;
  file_.page_size = meta.page_size;
  file_.complete = meta.complete;
}

void TraceFile::Taker::footer(ByteReader& in) {
  const format::StoredFooter footer = decode<format::FooterCodec>(in);
  const auto expect = [](const char* what, std::uint64_t found, std::uint64_t stored) {
    if (found != stored) {
      throw DecodeError{std::string("the footer states ") + std::to_string(stored) + " " + what + ", the file has " +
                        std::to_string(found)};
    }
  };
  expect("executions", file_.stored_.size(), footer.executions);
  expect("patterns", file_.patterns.size(), footer.patterns);
  expect("objects", file_.objects.size(), footer.objects);
  std::uint64_t accesses = 0, reads = 0, writes = 0;
  for (const auto& stored : file_.stored_) {
    if (!stored) continue;
    accesses += stored->execution.accesses;
    reads += stored->execution.reads;
    writes += stored->execution.writes;
  }
  expect("accesses", accesses, footer.accesses);
  expect("reads", reads, footer.reads);
  expect("writes", writes, footer.writes);
  file_.complete = footer.complete;
  file_.content_hash = valid_utf8(footer.content_hash);
}

void TraceFile::take_records(const format::Frame& frame) {
  Taker taker{*this, frame.offset};
  format::for_each_record(ByteReader{frame.raw}, record_names_, [&](RecordType type, ByteReader& in) { return taker.take(type, in); });
}

// Program order, ordinals, the work of patterns.
void TraceFile::renumber(bool whole_frames_only) {
  frames_.resize(std::max(frames_.size(), stored_.size()));
  for (std::uint32_t row = 0; row < stored_.size(); ++row) {
    if (stored_[row])
      file_id_.push_back(row);
    else if (!whole_frames_only)
      throw DecodeError{"execution " + std::to_string(row) + " is missing"};
  }
  if (frames_.size() > stored_.size() && !whole_frames_only) throw DecodeError{"INDEX has more executions than EXECUTION"};
  std::stable_sort(file_id_.begin(), file_id_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return stored_[a]->order < stored_[b]->order; });
  std::vector<std::uint32_t> position(stored_.size(), 0);
  for (std::uint32_t e = 0; e < file_id_.size(); ++e) {
    executions.push_back(stored_[file_id_[e]]->execution);
    execution_extras.push_back(stored_[file_id_[e]]->extra);
    position[file_id_[e]] = e;
  }
  const auto place = [&](ItemReference& item) {
    if (item.execution.is_none()) return;
    if (item.execution.index() >= position.size()) {
      throw DecodeError{"a record refers to execution " + std::to_string(item.execution.value()) + " of " +
                        std::to_string(position.size())};
    }
    item.execution = ExecutionId{position[item.execution.index()]};
  };
  for (ExecutionExtra& extra : execution_extras) place(extra.parent);
  for (Edge& edge : edges) {
    place(edge.predecessor);
    place(edge.successor);
  }
  for (Mark& mark : marks) place(mark.item);
  for (std::size_t p = 0; p < patterns.size(); ++p) {
    const auto rate = rates_.find(pattern_regions[p]);
    if (rate == rates_.end()) continue;
    patterns[p].work += rate->second.per_access.scaled(static_cast<double>(patterns[p].accesses));
    patterns[p].work += rate->second.per_iteration;
  }
}

void TraceFile::check_code() const {
  const std::size_t blocks = executed.blocks.size();
  const auto is_number = [](double value) { return value >= 0 && value < 1e300; };
  for (const CodeBlock& block : executed.blocks) {
    if (block.calls > blocks)
      throw DecodeError{"a block of code that calls number " + std::to_string(block.calls) + " of " + std::to_string(blocks)};
    if (!is_number(block.nanoseconds)) throw DecodeError{"calls of '" + block.function + "' that take a time that is none"};
    if (block.stepped && block.bytes.size() % CodeBlock::stepped_bytes != 0)
      throw DecodeError{"stepped code of '" + block.function + "' that was cut"};
  }
  std::pair<std::uint32_t, std::uint32_t> before{0, 0};
  for (const CodePlace& place : executed.places) {
    if (place.block >= blocks || place.instruction >= executed.blocks[place.block].instructions)
      throw DecodeError{"the line of instruction " + std::to_string(place.instruction) + " of block of code " +
                        std::to_string(place.block) + ", which has no such instruction"};
    if (std::exchange(before, {place.block, place.instruction}) >= before) throw DecodeError{"lines of instructions that are not in order"};
  }
  for (const CodeWindow& window : executed.windows)
    for (const std::uint32_t block : window.blocks)
      if (block >= blocks) throw DecodeError{"block of code " + std::to_string(block) + " in a window, of " + std::to_string(blocks)};
  for (const CodeCount& count : executed.counts) {
    if (count.region.index() >= regions.size() || count.block >= blocks)
      throw DecodeError{"executions of block of code " + std::to_string(count.block) + ", of " + std::to_string(blocks)};
    if (!is_number(count.executions) || !is_number(count.mispredictions))
      throw DecodeError{"executions of a block of a number that is none"};
  }
  if (!is_number(executed.host_hertz)) throw DecodeError{"a host's clock that is none"};
  std::vector<bool> timed(regions.size(), false);
  for (const MeasuredTime& time : executed.times) {
    if (!is_number(time.seconds)) throw DecodeError{"a measured time that is none"};
    for (const RegionId region : time.regions) {
      if (region.index() >= regions.size()) throw DecodeError{"a measured time of an unknown region"};
      if (timed[region.index()]) throw DecodeError{"two measured times of region " + std::to_string(region.value())};
      timed[region.index()] = true;
    }
  }
}

void TraceFile::validate() const {
  const auto within = [](const char* what, auto id, std::size_t size) {
    if (!id.is_none() && id.index() >= size) {
      throw DecodeError{std::string(what) + " " + std::to_string(id.value()) + " is referred to; " + std::to_string(size) + " are defined"};
    }
  };
  for (const Region& region : regions) within("site", region.site, sites.size());
  for (const TracedObject& object : objects) {
    within("site", object.site, sites.size());
    within("object", object.reallocated_from, objects.size());
    if (object.bytes > most_object_bytes || object.alignment > most_alignment) {
      throw DecodeError{"object '" + brief(object.symbol) + "' of " + std::to_string(object.bytes) + " bytes aligned to " +
                        std::to_string(object.alignment) + "; at most " + std::to_string(most_object_bytes) + " and " +
                        std::to_string(most_alignment) + " are allowed"};
    }
  }
  for (const SiteExtra& extra : site_extras) within("site", extra.inline_parent, sites.size());
  for (const TracedThread& thread : threads) within("thread", thread.parent, threads.size());
  for (const Loss& loss : losses) within("site", loss.site, sites.size());
  for (const RegionCode& part : code) {
    within("region", part.region, regions.size());
    if (!(part.calls >= 0 && part.calls < 1e300 && part.instructions >= 0 && part.instructions < 1e300))
      throw DecodeError{"calls of '" + part.function + "' of a number that is none"};
  }
  check_code();
  for (const Mark& mark : marks) within("object", mark.object, objects.size());
  for (const Execution& execution : executions) {
    if (execution.region.index() >= regions.size()) throw DecodeError{"an execution of an unknown region"};
    if (execution.iterations < 0 || execution.team == 0) throw DecodeError{"an execution with a negative number of iterations or no team"};
  }
  for (const ItemPattern& pattern : patterns) {
    for (const AccessRun& run : pattern.runs) within("site", run.site, sites.size());
    for (const IrregularStream& stream : pattern.streams) within("site", stream.site, sites.size());
  }
}

}  // namespace homenode
