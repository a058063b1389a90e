#include "traces/capture/assembler.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "sim/errors.hpp"
#include "traces/format/trace_writer.hpp"
#include "traces/capture/assembler_symbols.hpp"
#include "traces/capture/folding.hpp"

extern "C" {
#include "traces/capture/stream.h"
}

namespace homenode {
namespace {

class Stream {
public:
  explicit Stream(int descriptor) : descriptor_{descriptor}, buffer_(1 << 20) {}
  // False at the end of the file.
  bool byte(std::uint8_t& value) {
    if (at_ == end_ && !fill()) return false;
    value = buffer_[at_++];
    return true;
  }
  std::uint64_t u64() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      std::uint8_t b;
      if (!byte(b)) throw Ended{};
      value |= static_cast<std::uint64_t>(b & 127) << shift;
      if (b < 128) return value;
    }
    throw InputError("the capture stream has a number of more than 64 bits");
  }
  std::int64_t i64() {
    const std::uint64_t value = u64();
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
  }
  std::string text() {
    std::string value(u64(), '\0');
    for (char& c : value) {
      std::uint8_t b;
      if (!byte(b)) throw Ended{};
      c = static_cast<char>(b);
    }
    return value;
  }
  struct Ended {};  // in the middle of a message: the program was killed

private:
  bool fill() {
    ssize_t got;
    do got = ::read(descriptor_, buffer_.data(), buffer_.size());
    while (got < 0 && errno == EINTR);
    if (got < 0) throw InputError(std::string{"the capture stream cannot be read: "} + std::strerror(errno));
    at_ = 0, end_ = static_cast<std::size_t>(got);
    return got > 0;
  }
  int descriptor_;
  std::vector<std::uint8_t> buffer_;
  std::size_t at_ = 0, end_ = 0;
};

class Tables final : public Workload {
public:
  std::shared_ptr<const ExecutionBody> body(ExecutionId) const override { throw Error("bodies are in the file"); }
};

struct CallSite {
  std::uint64_t module = 0, offset = 0;
  auto operator<=>(const CallSite&) const = default;
};

struct LiveObject {
  std::uint64_t high = 0;
  ObjectId object = ObjectId::none();
  std::int64_t variable = -1;  // of module 0, not yet made an object
  std::uint64_t module = 0;
  bool frame = false;
};

// A stretch of a parallel construct: a loop, sections, a single, or the code between them.
struct Phase {
  RegionKind kind = RegionKind::thread;
  CallSite site;
  std::string label;
  std::int64_t low = 0, high = 0, step = 1, iterations = 0;
  bool nowait = true, ordered = false;
  std::map<std::uint32_t, BlockFolder> by_rank;
};

struct Rank {
  std::size_t phase = 0;
  Item item;
  std::int64_t iteration = 0;
  bool in_item = false;  // accesses belong to an iteration or to code
  std::uint64_t accesses = 0;
};

class Assembler {
public:
  Assembler(int descriptor, const AssembleOptions& options)
      : in_{descriptor}, options_{options}, writer_{options.output}, patterns_{tables_.patterns} {
    tables_.program = options.label.empty() ? std::filesystem::path{options.program}.filename().string() : options.label;
    for (const std::string& word : options.arguments) tables_.arguments += (tables_.arguments.empty() ? "" : " ") + word;
    tables_.compiler = "gcc -fsanitize=thread (homenode cc)";
    tables_.sites.push_back({});
    read_work();
    begin_serial();
  }

  AssembleResult run() {
    try {
      std::uint8_t opcode;
      while (!ended_ && in_.byte(opcode)) message(opcode);
    } catch (const Stream::Ended&) { result_.complete = false; }
    if (in_parallel_) end_parallel();
    end_serial();
    tables_.complete = result_.complete;
    finish_tables();
    result_.content_hash = writer_.finish(result_.complete);
    return result_;
  }

private:
  // --- messages -------------------------------------------------------------------------------------------------------------
  void message(std::uint8_t opcode) {
    switch (opcode) {
      case HN_HELLO: {
        const std::uint64_t version = in_.u64();
        if (version != HN_STREAM_VERSION)
          throw InputError("the capture stream is of version " + std::to_string(version) +
                           "; allowed: " + std::to_string(HN_STREAM_VERSION) + " (recompile the program with this homenode)");
        tables_.page_size = in_.u64();
        team_ = static_cast<std::uint32_t>(in_.u64());
        const std::uint64_t low = in_.u64(), high = in_.u64();
        add_stack(0, low, high);
        for (std::uint32_t r = 0; r < team_; ++r)
          tables_.threads.push_back({r == 0 ? ThreadId::none() : ThreadId{0}, r == 0 ? "main" : "team", static_cast<std::int32_t>(r)});
        break;
      }
      case HN_MODULE:
        module();
        break;
      case HN_PC: {
        const std::uint64_t id = in_.u64();
        if (id != pcs_.size()) throw InputError("the capture stream defines access site " + std::to_string(id) + " out of order");
        Pc pc;
        pc.kind = static_cast<AccessKind>(in_.u64() & 3);
        pc.width = static_cast<std::uint16_t>(in_.u64());
        pc.bulk = in_.u64() & HN_FLAG_BULK;
        const CallSite site = call_site();
        pc.site = site_id(site);
        pcs_.push_back(pc);
        break;
      }
      case HN_RUN:
        run_message(false);
        break;
      case HN_RUN_SAME:
        run_message(true);
        break;
      case HN_COLUMN:
        column();
        break;
      case HN_ALLOCATE:
        allocate();
        break;
      case HN_RELEASE:
        release();
        break;
      case HN_FRAME: {
        const auto rank = static_cast<std::uint32_t>(in_.u64());
        const std::uint64_t low = in_.u64(), high = in_.u64();
        frame(rank, low, high, call_site());
        break;
      }
      case HN_TLS: {
        const std::uint64_t rank = in_.u64(), low = in_.u64(), high = in_.u64();
        replace(low, high,
                new_object(ObjectKind::thread_local_storage, high - low, "thread-local storage", SiteId{0},
                           rank == 0 ? -1 : static_cast<std::int32_t>(rank), true));
        break;
      }
      case HN_STACK: {
        const auto rank = static_cast<std::uint32_t>(in_.u64());
        const std::uint64_t low = in_.u64(), high = in_.u64();
        add_stack(rank, low, high);
        break;
      }
      case HN_PARALLEL_BEGIN: {
        const std::uint64_t serial = in_.u64();
        const auto team = static_cast<std::uint32_t>(in_.u64());
        const CallSite site = call_site();
        begin_parallel(serial, team, site);
        break;
      }
      case HN_PARALLEL_END:
        in_.u64();
        end_parallel();
        begin_serial();
        break;
      case HN_RANK:
        rank_ = static_cast<std::uint32_t>(in_.u64());
        if (in_parallel_ && rank_ >= ranks_.size())
          throw InputError("the capture stream has a rank " + std::to_string(rank_) + " in a team of " + std::to_string(ranks_.size()));
        break;
      case HN_LOOP_BEGIN: {
        const CallSite site = call_site();
        Phase phase;
        phase.kind = RegionKind::loop;
        phase.site = site;
        phase.low = in_.i64(), phase.high = in_.i64(), phase.step = in_.i64();
        phase.ordered = in_.u64() & HN_LOOP_ORDERED;
        phase.iterations = static_cast<std::int64_t>(in_.u64());
        enter(phase);
        break;
      }
      case HN_SECTIONS_BEGIN: {
        Phase phase;
        phase.kind = RegionKind::section;
        phase.site = call_site();
        phase.iterations = static_cast<std::int64_t>(in_.u64());
        enter(phase);
        break;
      }
      case HN_ITEM: {
        const auto iteration = static_cast<std::int64_t>(in_.u64());
        if (!in_parallel_) break;
        Rank& rank = ranks_[rank_];
        close_item(rank);
        rank.iteration = iteration;
        rank.in_item = true;
        break;
      }
      case HN_LOOP_END: {
        const bool nowait = in_.u64();
        if (!in_parallel_) break;
        phases_[ranks_[rank_].phase].nowait = nowait;
        leave();
        if (!nowait) expect_barrier_.insert(rank_);
        break;
      }
      case HN_BARRIER:
        in_.u64();
        if (!in_parallel_) break;
        if (expect_barrier_.erase(rank_) != 0) break;  // the loop's own
        close_item(ranks_[rank_]);
        phases_[ranks_[rank_].phase].nowait = false;
        ranks_[rank_].phase += 1;
        code_phase();
        break;
      case HN_SINGLE: {
        Phase phase;
        phase.kind = RegionKind::single;
        phase.site = call_site();
        phase.iterations = 1;
        const bool taken = in_.u64();
        if (!in_parallel_) break;
        enter(phase);
        if (taken) {
          ranks_[rank_].iteration = 0;
          ranks_[rank_].in_item = true;
        } else {
          leave();
        }
        break;
      }
      case HN_SINGLE_END:
        if (in_parallel_) leave();
        break;
      case HN_SYNC: {
        SyncEvent event;
        event.sequence = current().accesses;
        event.operation = static_cast<SyncOperation>(in_.u64());
        event.object = in_.u64(), event.match = in_.u64();
        current().item.sync_events.push_back(event);
        break;
      }
      case HN_USER_RANK:
        if (in_parallel_) bound_ = true;
        break;
      case HN_MARK:
        mark();
        break;
      case HN_LOSS: {
        Loss loss;
        loss.count = in_.u64();
        loss.site = site_id(call_site());
        loss.reason = in_.text();
        tables_.losses.push_back(loss);
        break;
      }
      case HN_END:
        result_.exit_status = static_cast<std::int64_t>(in_.u64());
        in_.u64();
        result_.complete = true;
        ended_ = true;
        break;
      default:
        throw InputError("the capture stream has a message of unknown kind " + std::to_string(opcode));
    }
  }

  CallSite call_site() {
    const std::uint64_t module = in_.u64();
    return {module, in_.u64()};
  }

  void module() {
    const std::uint64_t id = in_.u64(), bias = in_.u64();
    const std::string path = in_.text();
    if (modules_.size() <= id) modules_.resize(id + 1), biases_.resize(id + 1, 0);
    modules_[id] = std::make_unique<ModuleSymbols>(path);
    biases_[id] = bias;
    const auto& variables = modules_[id]->variables();
    for (std::size_t v = 0; v < variables.size(); ++v) {
      if (variables[v].thread_local_storage) continue;
      LiveObject global;
      global.high = bias + variables[v].address + variables[v].bytes;
      global.variable = static_cast<std::int64_t>(v);
      global.module = id;
      live_.try_emplace(bias + variables[v].address, global);
    }
    if (id == 0) read_notes(*modules_[0]);
  }

  struct Pc {
    AccessKind kind = AccessKind::read;
    std::uint16_t width = 0;
    bool bulk = false;
    SiteId site;
    std::uint64_t previous = 0, count = 1;
    std::int64_t stride = 0;
    std::uint64_t dsequence = 0, distance = 0;
    // What the last access hit: most runs of a site stay in one object.
    std::uint64_t low = 1, high = 0;
    ObjectId object = ObjectId::none();
    std::uint64_t epoch = 0;
  };

  void run_message(bool same) {
    const std::uint64_t id = in_.u64();
    if (id >= pcs_.size()) throw InputError("the capture stream has a run of unknown site " + std::to_string(id));
    Pc& pc = pcs_[id];
    if (!same) pc.count = in_.u64();
    const std::uint64_t base = pc.previous + static_cast<std::uint64_t>(in_.i64());
    const std::uint64_t sequence = in_.u64();
    if (!same) {
      pc.stride = 0, pc.dsequence = 0;
      if (pc.count > 1) pc.stride = in_.i64(), pc.dsequence = in_.u64();
      pc.distance = in_.u64();
    }
    pc.previous = base;
    place(pc, base, sequence, pc.count, pc.stride, pc.dsequence, pc.distance);
  }

  void column() {
    const std::uint64_t id = in_.u64();
    if (id >= pcs_.size()) throw InputError("the capture stream has accesses of unknown site " + std::to_string(id));
    Pc& pc = pcs_[id];
    const std::uint64_t n = in_.u64();
    std::uint64_t sequence = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      pc.previous += static_cast<std::uint64_t>(in_.i64());
      sequence += in_.u64();
      place(pc, pc.previous, sequence, 1, 0, 0, in_.u64());
    }
  }

  void place(Pc& pc, std::uint64_t base, std::uint64_t sequence, std::uint64_t count, std::int64_t stride, std::uint64_t dsequence,
             std::uint64_t distance) {
    const std::uint64_t lowest = stride < 0 ? base + static_cast<std::uint64_t>(stride) * (count - 1) : base;
    if (pc.epoch != epoch_ || lowest < pc.low || lowest >= pc.high) find(pc, lowest);
    PlacedRun placed;
    placed.object = pc.object;
    placed.run.width = pc.width;
    placed.run.kind = pc.kind;
    placed.run.bulk = pc.bulk;
    placed.run.site = pc.site;
    placed.run.producer_distance = static_cast<std::uint32_t>(std::min<std::uint64_t>(distance, UINT32_MAX));
    placed.run.offset = static_cast<std::int64_t>(base - pc.low);
    placed.run.sequence = sequence;
    placed.run.streamable = pc.kind == AccessKind::write && streamable_.contains(pc.object.value());
    if (count > 1) {
      placed.run.dimensions = 1;
      placed.run.dimension[0] = {static_cast<std::uint32_t>(count), stride, static_cast<std::uint32_t>(dsequence)};
    }
    Rank& rank = current();
    rank.item.runs.push_back(placed);
    rank.accesses += count;
    result_.accesses += count;
  }

  // --- objects --------------------------------------------------------------------------------------------------------------
  ObjectId new_object(ObjectKind kind, std::uint64_t bytes, std::string symbol, SiteId site, std::int32_t owner = -1,
                      bool is_private = false) {
    TracedObject object;
    object.kind = kind;
    object.bytes = bytes;
    object.symbol = std::move(symbol);
    object.site = site;
    object.owner_hint = owner;
    object.thread_private = is_private;
    object.alignment = 16;
    tables_.objects.push_back(object);
    return ObjectId{tables_.objects.size() - 1};
  }

  void replace(std::uint64_t low, std::uint64_t high, ObjectId object, bool is_frame = false) {
    ++epoch_;
    for (auto it = live_.lower_bound(low); it != live_.end() && it->first < high;) it = live_.erase(it);
    auto before = live_.lower_bound(low);
    if (before != live_.begin() && std::prev(before)->second.frame && std::prev(before)->second.high > low) live_.erase(std::prev(before));
    live_[low] = {high, object, -1, 0, is_frame};
  }

  void add_stack(std::uint32_t rank, std::uint64_t low, std::uint64_t high) { stacks_[low] = {high, rank, ObjectId::none()}; }

  void frame(std::uint32_t rank, std::uint64_t low, std::uint64_t high, const CallSite& site) {
    const std::string function = site.module == 0 && site.offset == 0 ? "arguments" : function_of(site);
    // A frame of the team's own code (the outlined body and what it calls) is each thread's; those above it are shared.
    if (function.find("._omp_fn.") != std::string::npos) team_frame_[rank] = std::max(team_frame_[rank], high);
    const bool is_private = in_parallel_ && (rank != 0 || high <= team_frame_[rank]);
    const auto key = std::make_tuple(function, high - low, is_private, is_private ? 0u : rank, is_private ? 0u : low);
    auto [known, fresh] = frames_.try_emplace(key, ObjectId::none());
    if (fresh) known->second = new_object(ObjectKind::stack, high - low, function, site_id(site), -1, is_private);
    replace(low, high, known->second, true);
  }

  void find(Pc& pc, std::uint64_t address) {
    pc.epoch = epoch_;
    auto found = live_.upper_bound(address);
    if (found != live_.begin()) {
      --found;
      if (address < found->second.high) {
        LiveObject& object = found->second;
        if (object.variable >= 0) {
          const Variable& variable = modules_[object.module]->variables()[static_cast<std::size_t>(object.variable)];
          object.object = new_object(ObjectKind::global, variable.bytes, variable.name, SiteId{0});
          object.variable = -1;
        }
        pc.low = found->first, pc.high = object.high, pc.object = object.object;
        return;
      }
    }
    auto stack = stacks_.upper_bound(address);
    if (stack != stacks_.begin() && address < std::prev(stack)->second.high) {
      auto& entry = std::prev(stack)->second;
      if (entry.object.is_none())
        entry.object = new_object(ObjectKind::stack, entry.high - std::prev(stack)->first, "stack", SiteId{0}, -1, true);
      pc.low = std::prev(stack)->first, pc.high = entry.high, pc.object = entry.object;
      return;
    }
    // Nobody announced it: one object of a page run, so that nothing is lost.
    const std::uint64_t page = tables_.page_size, low = address / page * page;
    const ObjectId unknown = new_object(ObjectKind::unknown, page, "unknown", SiteId{0});
    live_[low] = {low + page, unknown, -1, 0, false};
    pc.low = low, pc.high = low + page, pc.object = unknown;
  }

  void allocate() {
    const std::uint64_t address = in_.u64(), bytes = in_.u64(), operation = in_.u64(), zeroed = in_.u64(), old = in_.u64(),
                        alignment = in_.u64();
    const CallSite site = call_site();
    Rank& rank = current();
    ObjectId previous = ObjectId::none();
    if (old != 0) {
      const auto found = live_.find(old);
      if (found != live_.end()) previous = found->second.object, live_.erase(found);
    }
    const ObjectId object = new_object(operation == HN_HEAP_MAP ? ObjectKind::mapped : ObjectKind::heap, bytes, "", site_id(site));
    tables_.objects.back().alignment = std::max<std::uint64_t>(alignment, 1);
    tables_.objects.back().reallocated_from = previous;
    named_by_site_.push_back(object);
    if (bytes > 0) replace(address, address + bytes, object);
    heap_event(rank, static_cast<HeapOperation>(operation), object, zeroed != 0);
  }

  void release() {
    const std::uint64_t address = in_.u64(), operation = in_.u64();
    call_site();
    const auto found = live_.find(address);
    if (found == live_.end()) return;
    heap_event(current(), static_cast<HeapOperation>(operation), found->second.object, false);
    live_.erase(found);
    ++epoch_;
  }

  void heap_event(Rank& rank, HeapOperation operation, ObjectId object, bool zeroed) {
    rank.item.heap_events.push_back({rank.accesses, operation, 0, zeroed});
    rank.item.heap_objects.push_back(object);
  }

  void mark() {
    const std::uint64_t kind = in_.u64(), value = in_.u64(), address = in_.u64();
    in_.u64();
    const std::string text = in_.text();
    if (kind == HN_MARK_LABEL) {
      if (in_parallel_) {
        pending_label_ = text;
      } else {
        if (pending_label_) serial_label_ = *pending_label_;  // no construct came: the mark was for this serial code
        end_serial();
        begin_serial();
        pending_label_ = text;
      }
    } else if (kind == HN_MARK_STEP) {
      step_ = static_cast<std::int64_t>(value);
    } else if (kind == HN_MARK_STREAMABLE || kind == HN_MARK_OWNER) {
      Pc scratch;
      find(scratch, address);
      if (kind == HN_MARK_STREAMABLE) {
        streamable_.insert(scratch.object.value());
      } else {
        tables_.objects[scratch.object.index()].owner_hint = static_cast<std::int32_t>(value);
      }
    }
  }

  // --- constructs -----------------------------------------------------------------------------------------------------------
  Rank& current() { return in_parallel_ ? ranks_[rank_] : serial_; }

  void begin_serial() {
    serial_ = {};
    serial_.in_item = true;
    serial_label_.reset();
  }

  void end_serial() {
    if (pending_label_ && ended_) serial_label_ = std::exchange(pending_label_, std::nullopt);
    if (serial_.item.runs.empty() && serial_.item.heap_events.empty()) return;
    fold_runs(serial_.item.runs);
    BlockFolder folder;
    folder.add(0, serial_.item);
    const std::string label = serial_label_ ? *serial_label_ : "main:serial#" + std::to_string(serial_ordinal_);
    ++serial_ordinal_;
    Region region;
    region.kind = RegionKind::serial;
    region.label = label;
    Execution execution;
    execution.iterations = 1;
    execution.barrier_after = false;
    emit(region, execution, {&folder}, work_of("serial", parallel_count_), serial_accesses_of_gap_);
    serial_ = {};
  }

  void begin_parallel(std::uint64_t serial, std::uint32_t team, const CallSite& site) {
    end_serial();
    in_parallel_ = true;
    bound_ = false;
    parallel_serial_ = serial;
    parallel_team_ = team;
    parallel_site_ = site;
    parallel_label_ = std::exchange(pending_label_, std::nullopt);
    ranks_.assign(team, Rank{});
    phases_.clear();
    expect_barrier_.clear();
    team_frame_.clear();
    rank_ = 0;
    phases_.push_back(code());
    for (Rank& rank : ranks_) rank.in_item = true;
  }

  Phase code() {
    Phase phase;
    phase.kind = RegionKind::thread;
    phase.site = parallel_site_;
    return phase;
  }
  void code_phase() {
    if (ranks_[rank_].phase == phases_.size()) phases_.push_back(code());
    ranks_[rank_].in_item = true;
  }

  void enter(const Phase& phase) {
    if (!in_parallel_) return;
    Rank& rank = ranks_[rank_];
    close_item(rank);
    ++rank.phase;
    if (rank.phase == phases_.size()) {
      phases_.push_back(phase);
      phases_.back().label = pending_label_ ? *std::exchange(pending_label_, std::nullopt) : "";
    }
    rank.in_item = false;
  }
  void leave() {
    Rank& rank = ranks_[rank_];
    close_item(rank);
    ++rank.phase;
    code_phase();
  }

  void close_item(Rank& rank) {
    if (rank.in_item && !(rank.item.runs.empty() && rank.item.heap_events.empty() && rank.item.sync_events.empty() &&
                          phases_[rank.phase].kind == RegionKind::thread)) {
      fold_runs(rank.item.runs);
      const auto index = static_cast<std::uint32_t>(&rank - ranks_.data());
      const std::int64_t iteration = phases_[rank.phase].kind == RegionKind::thread ? index : rank.iteration;
      phases_[rank.phase].by_rank[index].add(iteration, rank.item);
    }
    rank.item = {};
    rank.accesses = 0;
    rank.in_item = false;
  }

  void end_parallel() {
    for (Rank& rank : ranks_) close_item(rank);
    std::uint64_t total = 0;
    for (const Phase& phase : phases_) {
      for (const auto& [rank, folder] : phase.by_rank) total += folder.accesses();
    }
    const auto work = work_of("parallel", parallel_serial_);
    std::size_t last = 0;  // phase that something was done in: the join follows it
    for (std::size_t p = 0; p < phases_.size(); ++p) {
      if (phases_[p].kind != RegionKind::thread || !phases_[p].by_rank.empty()) last = p;
    }
    for (std::size_t p = 0; p < phases_.size(); ++p) {
      Phase& phase = phases_[p];
      const bool code = phase.kind == RegionKind::thread;
      if (code && phase.by_rank.empty()) continue;
      Region region;
      region.kind = phase.kind;
      region.site = site_id(phase.site);
      const std::string base = parallel_label_ ? *parallel_label_ : numbered(parallel_site_);
      region.label = !phase.label.empty() ? phase.label : code ? base + ":code" + suffix(p) : base + suffix_of_loop(p);
      region.nowait = phase.nowait;
      region.ordered = phase.ordered;
      if (phase.kind == RegionKind::loop) region.dimensions.push_back({phase.low, phase.high, phase.step});
      note_clause(region, phase.site);
      Execution execution;
      execution.team = parallel_team_;
      execution.parallel = static_cast<std::uint32_t>(parallel_serial_ + 1);
      execution.barrier_after = !phase.nowait || p == last;
      execution.iterations = code ? (bound_ ? parallel_team_ : 1) : phase.iterations;
      if (code) execution.binding = bound_ ? Binding::rank : Binding::replicated;
      std::vector<BlockFolder*> folders;
      if (code && !bound_) {
        folders.push_back(&phase.by_rank.begin()->second);
        if (phase.by_rank.begin()->first != 0) continue;
      } else if (code) {
        for (std::uint32_t r = 0; r < parallel_team_; ++r) {
          if (!phase.by_rank.contains(r)) phase.by_rank[r].add(r, Item{});
          folders.push_back(&phase.by_rank[r]);
        }
      } else {
        for (auto& [rank, folder] : phase.by_rank) folders.push_back(&folder);
      }
      emit(region, execution, folders, work, total);
    }
    in_parallel_ = false;
    rank_ = 0;
    ++parallel_count_;
  }

  static std::string suffix(std::size_t phase) { return phase == 0 ? "" : std::to_string(phase); }
  std::string suffix_of_loop(std::size_t phase) const {
    std::size_t before = 0;
    for (std::size_t p = 0; p < phase; ++p) before += phases_[p].kind == RegionKind::thread ? 0 : 1;
    return before == 0 ? "" : "." + std::to_string(before);
  }

  // function#ordinal, by the first appearance of the call site in its function.
  std::string numbered(const CallSite& site) {
    const std::string function = function_of(site).empty() ? "?" : function_of(site);
    const auto [known, fresh] = ordinals_.try_emplace(site, 0);
    if (fresh) known->second = constructs_in_[function]++;
    return function + "#" + std::to_string(known->second);
  }

  void emit(Region region, Execution execution, const std::vector<BlockFolder*>& folders, const std::optional<WorkCounts>& work,
            std::uint64_t accesses_of_work) {
    const auto [known, fresh] = regions_.try_emplace(std::make_pair(region.label, region.kind), RegionId{tables_.regions.size()});
    if (fresh) tables_.regions.push_back(region);
    execution.region = known->second;
    execution.ordinal = executions_of_[known->second.value()]++;
    execution.step = step_;
    WorkCounts per_access;
    std::uint64_t own = 0;
    for (const BlockFolder* folder : folders) own += folder->accesses();
    const std::uint64_t total = accesses_of_work != 0 ? accesses_of_work : own;
    if (work && total != 0) per_access = work->scaled(1 / static_cast<double>(total));
    ExecutionBody body;
    for (BlockFolder* folder : folders) {
      execution.accesses += folder->accesses();
      execution.reads += folder->reads();
      execution.writes += folder->writes();
      auto blocks = folder->finish(patterns_, per_access);
      body.blocks.insert(body.blocks.end(), std::make_move_iterator(blocks.begin()), std::make_move_iterator(blocks.end()));
    }
    std::sort(body.blocks.begin(), body.blocks.end(), [](const ItemBlock& a, const ItemBlock& b) { return a.first < b.first; });
    name_objects();
    write_tables();
    const ExecutionId id = writer_.open_execution(execution.region, executions_++);
    std::int64_t next = 0;
    for (ItemBlock& block : body.blocks) {
      if (block.first != next) break;  // a killed program: what arrived without a gap is kept
      const auto [stored, unseen] = stored_patterns_.try_emplace({execution.region.value(), block.pattern.value()}, PatternId{});
      if (unseen) stored->second = writer_.add(execution.region, tables_.patterns[block.pattern.index()]);
      block.pattern = stored->second;
      next = block.last;
      writer_.append(id, block);
    }
    execution.iterations = next;
    writer_.close_execution(id, execution);
  }

  // Rows that the writer has not seen yet; their numbers are the same there.
  void write_tables() {
    for (; sites_written_ < tables_.sites.size(); ++sites_written_) writer_.add(tables_.sites[sites_written_]);
    for (; regions_written_ < tables_.regions.size(); ++regions_written_) writer_.add(tables_.regions[regions_written_]);
    for (; objects_written_ < tables_.objects.size(); ++objects_written_) writer_.add(tables_.objects[objects_written_]);
  }

  void finish_tables() {
    name_objects();
    write_tables();
    for (std::size_t object = 0; object < tables_.objects.size(); ++object)
      writer_.update(ObjectId{object}, tables_.objects[object]);  // marks came later
    for (const TracedThread& thread : tables_.threads) writer_.add(thread);
    for (const Loss& loss : tables_.losses) writer_.add(loss);
    TraceMeta meta;
    meta.tool = "homenode";
    meta.compiler = tables_.compiler;
    meta.program = tables_.program;
    meta.arguments = tables_.arguments;
    meta.capture_threads = team_;
    meta.page_size = tables_.page_size;
    meta.complete = result_.complete;
    writer_.meta(meta);
  }

  // --- names and notes ------------------------------------------------------------------------------------------------------
  std::string function_of(const CallSite& site) const {
    return site.module < modules_.size() && modules_[site.module] ? modules_[site.module]->function(site.offset) : std::string{};
  }

  SiteId site_id(const CallSite& site) {
    if (site.module == 0 && site.offset == 0) return SiteId{0};
    const auto [known, fresh] = site_ids_.try_emplace(site, SiteId{tables_.sites.size()});
    if (fresh) {
      Site entry;
      entry.pc = site.offset;
      entry.function = function_of(site);
      if (site.module < modules_.size() && modules_[site.module]) {
        const auto lines = modules_[site.module]->lines({site.offset});
        entry.file = lines[0].first, entry.line = lines[0].second;
      }
      tables_.sites.push_back(entry);
    }
    return known->second;
  }

  // Heap blocks are named by the place that allocated them.
  void name_objects() {
    for (const ObjectId object : named_by_site_) {
      TracedObject& entry = tables_.objects[object.index()];
      const Site& site = tables_.sites[entry.site.index()];
      entry.symbol = site.file.empty() ? site.function : site.file + ":" + std::to_string(site.line);
    }
    named_by_site_.clear();
  }

  void read_notes(const ModuleSymbols& program) {
    const auto lines_of = [](const std::string& text, auto each) {
      std::size_t begin = 0;
      while (begin < text.size()) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        if (end > begin) each(nlohmann::json::parse(text.substr(begin, end - begin)));
        begin = end + 1;
      }
    };
    lines_of(program.section(".homenode.clauses"), [&](const nlohmann::json& note) { clauses_.push_back(note); });
    lines_of(program.section(".homenode.loss"), [&](const nlohmann::json& note) {
      Loss loss;
      loss.reason = note.at("function").get<std::string>() + ": " + note.at("reason").get<std::string>();
      loss.count = note.at("count").get<std::uint64_t>();
      tables_.losses.push_back(loss);
    });
  }

  void note_clause(Region& region, const CallSite& site) {
    const Site& entry = tables_.sites[site_id(site).index()];
    for (const nlohmann::json& note : clauses_) {
      const std::string file = std::filesystem::path{note.at("file").get<std::string>()}.filename().string();
      const auto line = note.at("line").get<std::uint32_t>(), for_line = note.at("for_line").get<std::uint32_t>();
      if (file != entry.file || entry.line < line || entry.line > for_line) continue;
      if (!note.at("schedule").is_null()) region.schedule_clause = note.at("schedule").get<std::string>();
      region.reduction = note.at("reduction").get<bool>();
      return;
    }
  }

  void read_work() {
    if (options_.work.empty()) return;
    std::ifstream file{options_.work};
    if (!file) throw InputError(options_.work.string() + ": work counts cannot be read");
    bool whole = false;
    for (std::string line; std::getline(file, line);) {
      if (line.empty()) continue;
      const auto note = nlohmann::json::parse(line);
      const std::string kind = note.at("kind");
      if (kind == "end") {
        whole = true;
        continue;
      }
      WorkCounts work;
      work.instructions = note.at("instructions"), work.integer = note.at("integer"), work.fp_add = note.at("fp_add");
      work.fp_multiply = note.at("fp_multiply"), work.fp_fma = note.at("fp_fma"), work.divide = note.at("divide");
      work.load = note.at("load"), work.store = note.at("store"), work.branch = note.at("branch");
      work_[{kind, note.at("ordinal").get<std::uint64_t>()}] = work;
    }
    if (!whole) tables_.losses.push_back({SiteId{0}, "the work counts of the twin end early: it was killed", 1});
  }

  std::optional<WorkCounts> work_of(const std::string& kind, std::uint64_t ordinal) const {
    const auto found = work_.find({kind, ordinal});
    return found == work_.end() ? std::nullopt : std::optional{found->second};
  }

  struct StackRange {
    std::uint64_t high = 0;
    std::uint32_t rank = 0;
    ObjectId object = ObjectId::none();
  };

  Stream in_;
  const AssembleOptions& options_;
  Tables tables_;
  TraceWriter writer_;
  PatternTable patterns_;
  AssembleResult result_;
  bool ended_ = false;

  std::vector<std::unique_ptr<ModuleSymbols>> modules_;
  std::vector<std::uint64_t> biases_;
  std::vector<Pc> pcs_;
  std::map<CallSite, SiteId> site_ids_;
  std::map<std::uint64_t, LiveObject> live_;
  std::map<std::uint64_t, StackRange> stacks_;
  std::map<std::tuple<std::string, std::uint64_t, bool, std::uint32_t, std::uint64_t>, ObjectId> frames_;
  std::map<std::uint32_t, std::uint64_t> team_frame_;
  std::set<std::uint32_t> streamable_;
  std::vector<ObjectId> named_by_site_;
  std::uint64_t epoch_ = 1;

  std::uint32_t team_ = 1, rank_ = 0, parallel_team_ = 1;
  Rank serial_;
  std::uint64_t serial_ordinal_ = 0, serial_accesses_of_gap_ = 0, parallel_serial_ = 0, parallel_count_ = 0;
  std::optional<std::string> pending_label_, serial_label_, parallel_label_;
  CallSite parallel_site_;
  bool in_parallel_ = false, bound_ = false;
  std::vector<Rank> ranks_;
  std::vector<Phase> phases_;
  std::set<std::uint32_t> expect_barrier_;
  std::map<std::pair<std::string, RegionKind>, RegionId> regions_;
  std::map<std::uint32_t, std::uint32_t> executions_of_;
  std::map<CallSite, std::uint32_t> ordinals_;
  std::map<std::string, std::uint32_t> constructs_in_;
  std::vector<nlohmann::json> clauses_;
  std::map<std::pair<std::string, std::uint64_t>, WorkCounts> work_;
  std::int64_t step_ = -1;
  std::size_t sites_written_ = 0, regions_written_ = 0, objects_written_ = 0;
  std::uint64_t executions_ = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, PatternId> stored_patterns_;  // by region and pattern
};

}  // namespace

AssembleResult assemble(int descriptor, const AssembleOptions& options) { return Assembler{descriptor, options}.run(); }

}  // namespace homenode
