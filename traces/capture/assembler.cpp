#include "traces/capture/assembler.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>

#include "sim/errors.hpp"
#include "traces/capture/assembler_folding.hpp"
#include "traces/capture/assembler_symbols.hpp"
#include "traces/capture/assembler_work.hpp"
#include "traces/format/trace_writer.hpp"

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
  // The bytes that are there without waiting for more than one read; at least `least` of them unless the file ends.
  std::span<const std::uint8_t> ahead(std::size_t least) {
    while (end_ - at_ < least) {
      if (at_ > 0) {
        std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
        end_ -= at_, at_ = 0, ++generation_;
      }
      if (buffer_.size() < least) buffer_.resize(least);
      const std::size_t got = get(end_);
      if (got == 0) break;
      end_ += got;
    }
    return {buffer_.data() + at_, end_ - at_};
  }
  void skip(std::size_t bytes) { at_ += bytes; }
  // A place in the buffer, for since(); the text in between is lost when the buffer was filled anew.
  struct Bookmark {
    std::uint64_t generation = ~std::uint64_t{0};
    std::size_t at = 0;
  };
  Bookmark bookmark() const { return {generation_, at_}; }
  std::span<const std::uint8_t> since(const Bookmark& mark) const {
    if (mark.generation != generation_ || mark.at > at_) return {};
    return {buffer_.data() + mark.at, at_ - mark.at};
  }
  struct Ended {};  // in the middle of a message: the program was killed

private:
  bool fill() {
    at_ = 0, ++generation_;
    end_ = get(0);
    return end_ > 0;
  }
  std::size_t get(std::size_t at) {
    ssize_t got;
    do got = ::read(descriptor_, buffer_.data() + at, buffer_.size() - at);
    while (got < 0 && errno == EINTR);
    if (got < 0) throw InputError(std::string{"the capture stream cannot be read: "} + std::strerror(errno));
    return static_cast<std::size_t>(got);
  }
  int descriptor_;
  std::vector<std::uint8_t> buffer_;
  std::size_t at_ = 0, end_ = 0;
  std::uint64_t generation_ = 0;
};

// The tables as they grow; rows that blocks refer to are handed to the writer before them.
struct Tables {
  std::string program, arguments, compiler;
  std::uint64_t page_size = 4096;
  std::vector<TracedObject> objects;
  std::vector<Region> regions;
  std::vector<Site> sites;
  std::vector<TracedThread> threads;
  std::vector<Loss> losses;
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

// What one rank did of a phase.
struct Share {
  BlockFolder folder;
  std::vector<ItemBlock> blocks;  // finished, by iteration
  std::uint64_t accesses = 0;
};

// A stretch of a parallel construct: a loop, sections, a single, or the code between them.
struct Phase {
  RegionKind kind = RegionKind::thread;
  CallSite site;
  std::string label;
  std::int64_t low = 0, high = 0, step = 1, iterations = 0;
  bool nowait = true, ordered = false;
  std::int64_t step_mark = -1;
  RegionId region = RegionId::none();           // once a block of it is finished
  ExecutionId execution = ExecutionId::none();  // once a block of it is written
  std::int64_t written = 0;                     // iterations in the file
  std::map<std::uint32_t, Share> by_rank;
  std::vector<Mark> marks;  // their execution is known when it is written
  std::uint64_t accesses() const {
    std::uint64_t sum = 0;
    for (const auto& [rank, share] : by_rank) sum += share.accesses;
    return sum;
  }
};

struct Rank {
  std::size_t phase = 0;
  ItemFolder folder;
  std::int64_t iteration = 0;
  bool in_item = false;  // accesses belong to an iteration or to code
  std::uint64_t accesses = 0;
  // Of an iteration that consists of runs only: where its bytes begin, and which sites made runs in it.
  bool only_runs = false;
  Stream::Bookmark begin;
};

class Assembler {
public:
  Assembler(int descriptor, const AssembleOptions& options) : in_{descriptor}, options_{options}, writer_{options.output} {
    tables_.program = options.label.empty() ? std::filesystem::path{options.program}.filename().string() : options.label;
    for (const std::string& word : options.arguments) tables_.arguments += (tables_.arguments.empty() ? "" : " ") + word;
    tables_.compiler = "gcc -fsanitize=thread (homenode cc)";
    tables_.sites.push_back({});
    begin_serial();
  }

  AssembleResult run() {
    try {
      std::uint8_t opcode;
      while (!ended_ && in_.byte(opcode)) message(opcode);
    } catch (const Stream::Ended&) { result_.complete = false; }
    cut_ = !ended_;
    if (in_parallel_) end_parallel();
    end_serial();
    finish();
    return result_;
  }

private:
  // --- messages -------------------------------------------------------------------------------------------------------------
  void message(std::uint8_t opcode) {
    if (opcode != HN_RUN && opcode != HN_RUN_SAME && opcode != HN_ITEM && opcode != HN_PC) current().only_runs = false;
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
      case HN_RANK: {
        const std::uint64_t rank = in_.u64();
        if (in_parallel_ && rank >= ranks_.size())
          throw InputError("the capture stream goes on with rank " + std::to_string(rank) + " in a team of " +
                           std::to_string(ranks_.size()));
        rank_ = static_cast<std::uint32_t>(rank);
        break;
      }
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
        next_item(iteration);
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
        current().folder.sync_event(event);
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
        add_loss(loss);
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

  // Losses of one place and reason are one, with their counts added.
  void add_loss(const Loss& loss) {
    for (Loss& known : tables_.losses) {
      if (known.site == loss.site && known.reason == loss.reason) {
        known.count += loss.count;
        return;
      }
    }
    tables_.losses.push_back(loss);
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
    std::uint64_t at_item = 0;  // `previous` when the current iteration began
  };

  void run_message(bool same) {
    const std::uint64_t id = in_.u64();
    if (id >= pcs_.size()) throw InputError("the capture stream has a run of unknown site " + std::to_string(id));
    Pc& pc = pcs_[id];
    if (current().only_runs) pcs_of_item_.push_back(static_cast<std::uint32_t>(id));
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
    if (id >= pcs_.size()) throw InputError("the capture stream has a column of unknown site " + std::to_string(id));
    Pc& pc = pcs_[id];
    const std::uint64_t n = in_.u64();
    std::uint64_t sequence = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      pc.previous += static_cast<std::uint64_t>(in_.i64());
      sequence += in_.u64();
      place(pc, pc.previous, sequence, 1, 0, 0, in_.u64());
    }
  }

  // A run that walks over several objects is cut at their borders.
  void place(Pc& pc, std::uint64_t base, std::uint64_t sequence, std::uint64_t count, std::int64_t stride, std::uint64_t dsequence,
             std::uint64_t distance) {
    Rank& rank = current();
    rank.accesses += count;
    result_.accesses += count;
    while (count > 0) {
      if (pc.epoch != epoch_ || base < pc.low || base >= pc.high) find(pc, base);
      std::uint64_t here = count;
      if (stride > 0) {
        here = std::min(count, (pc.high - 1 - base) / static_cast<std::uint64_t>(stride) + 1);
      } else if (stride < 0) {
        here = std::min(count, (base - pc.low) / (~static_cast<std::uint64_t>(stride) + 1) + 1);
      }
      here = std::min<std::uint64_t>(here, UINT32_MAX);
      PlacedRun placed;
      placed.object = pc.object;
      placed.run.width = pc.width;
      placed.run.kind = pc.kind;
      placed.run.bulk = pc.bulk;
      placed.run.site = pc.site;
      placed.run.producer_distance = static_cast<std::uint32_t>(std::min<std::uint64_t>(distance, UINT32_MAX));
      placed.run.offset = static_cast<std::int64_t>(base - pc.low);
      placed.run.sequence = sequence;
      placed.run.streamable = pc.kind == AccessKind::write && !streamable_.empty() && streamable_.contains(pc.object.value());
      if (here > 1) {
        placed.run.dimensions = 1;
        placed.run.dimension[0] = {static_cast<std::uint32_t>(here), stride, static_cast<std::uint32_t>(dsequence)};
      }
      rank.folder.add(static_cast<std::size_t>(&pc - pcs_.data()), placed);
      count -= here;
      base += here * static_cast<std::uint64_t>(stride);
      sequence += here * dsequence;
    }
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
    rank.folder.heap_event({rank.accesses, operation, 0, zeroed}, object);
  }

  // Labels and steps cut serial code: what comes after is another execution.
  void mark() {
    const std::uint64_t kind = in_.u64(), value = in_.u64(), address = in_.u64(), bytes = in_.u64();
    const std::string text = in_.text();
    Mark mark;
    mark.text = text;
    switch (kind) {
      case HN_MARK_LABEL:
        mark.operation = MarkOperation::label;
        if (!in_parallel_) {
          if (pending_label_) serial_label_ = *pending_label_;  // no construct came: the mark was for this serial code
          end_serial();
          begin_serial();
        }
        pending_label_ = text;
        break;
      case HN_MARK_STEP:
        mark.operation = MarkOperation::step;
        mark.value = static_cast<std::int64_t>(value);
        if (!in_parallel_) {
          end_serial();
          begin_serial();
        }
        step_ = std::max<std::int64_t>(mark.value, -1);
        break;
      case HN_MARK_STREAMABLE:
        mark.operation = MarkOperation::streamable;
        mark.value = static_cast<std::int64_t>(bytes);
        mark.object = object_at(address);
        streamable_.insert(mark.object.value());
        break;
      case HN_MARK_OWNER:
        mark.operation = MarkOperation::owner;
        mark.value = static_cast<std::int32_t>(value);
        mark.object = object_at(address);
        tables_.objects[mark.object.index()].owner_hint = static_cast<std::int32_t>(value);
        break;
      case HN_MARK_THREAD_TYPE:
        mark.operation = MarkOperation::thread_type;
        break;
      default:
        throw InputError("the capture stream has a mark of unknown kind " + std::to_string(kind));
    }
    Rank& rank = current();
    mark.sequence = rank.accesses;
    if (in_parallel_) {
      Phase& phase = phases_[rank.phase];
      mark.item.iteration = phase.kind == RegionKind::thread ? rank_ : rank.iteration;
      phase.marks.push_back(std::move(mark));
    } else {
      marks_.push_back(std::move(mark));
    }
  }

  ObjectId object_at(std::uint64_t address) {
    Pc scratch;
    find(scratch, address);
    return scratch.object;
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
    if (serial_.folder.empty()) return;
    Phase phase;
    phase.kind = RegionKind::serial;
    phase.step_mark = step_;
    phase.label = serial_label_ ? *serial_label_ : "main:serial#" + std::to_string(serial_ordinal_);
    ++serial_ordinal_;
    phase.region = region_of(phase, phase.label);
    Share& share = phase.by_rank[0];
    add_item(phase, share, 0, serial_);
    Execution execution;
    execution.iterations = 1;
    write(phase, execution, serial_place());
    serial_shares_.emplace_back(phase.region, share.accesses);
    serial_ = {};
  }

  // Program order: the serial code before parallel construct k, then the phases of k.
  std::uint64_t serial_place() { return parallel_count_ << 24 | serial_parts_++; }
  std::uint64_t phase_place(std::size_t phase) const { return parallel_count_ << 24 | 1u << 23 | phase; }

  void begin_parallel(std::uint64_t serial, std::uint32_t team, const CallSite& site) {
    end_serial();
    note_serial_work();
    in_parallel_ = true;
    bound_ = false;
    parallel_serial_ = serial;
    parallel_team_ = team;
    parallel_site_ = site;
    parallel_label_ = std::exchange(pending_label_, std::nullopt);
    ranks_ = std::vector<Rank>(team);
    pcs_of_item_.clear();
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
    phase.step_mark = step_;
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
      phases_.back().step_mark = step_;
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
    Phase& phase = phases_[rank.phase];
    if (rank.in_item && !(rank.folder.empty() && phase.kind == RegionKind::thread)) {
      const auto index = static_cast<std::uint32_t>(&rank - ranks_.data());
      const std::int64_t iteration = phase.kind == RegionKind::thread ? index : rank.iteration;
      add_item(phase, phase.by_rank[index], iteration, rank);
    } else {
      rank.folder.finish(item_);
    }
    rank.accesses = 0;
    rank.in_item = false;
  }

  void add_item(Phase& phase, Share& share, std::int64_t iteration, Rank& rank) {
    rank.folder.finish(item_);
    share.accesses += item_.pattern.accesses;
    share.folder.add(iteration, item_, intern(phase), keep(phase, share));
  }

  BlockFolder::Intern intern(Phase& phase) {
    return [this, &phase](const ItemPattern& pattern) {
      if (phase.region.is_none()) phase.region = region_of(phase, label_of(phase));
      hand_over_tables();
      return writer_.add(phase.region, pattern);
    };
  }
  // Many blocks are written on the way, if they are the next ones.
  BlockFolder::Emit keep(Phase& phase, Share& share) {
    return [this, &phase, &share](ItemBlock block) {
      share.blocks.push_back(std::move(block));
      if (share.blocks.size() >= 65536 && phase.kind == RegionKind::loop && share.blocks.front().first == phase.written) {
        write_blocks(phase, share.blocks, phase_place(static_cast<std::size_t>(&phase - phases_.data())));
        share.blocks.clear();
      }
    };
  }

  void write_blocks(Phase& phase, const std::vector<ItemBlock>& blocks, std::uint64_t place) {
    hand_over_tables();
    if (phase.execution.is_none()) phase.execution = writer_.open_execution(phase.region, place);
    for (const ItemBlock& block : blocks) writer_.append(phase.execution, block);
    if (!blocks.empty()) phase.written = blocks.back().last;
  }

  // Of a killed program's loop the iterations that came without a gap are kept; ranks without code of their own do nothing.
  void write(Phase& phase, Execution execution, std::uint64_t place) {
    std::vector<ItemBlock> blocks;
    for (auto& [rank, share] : phase.by_rank) {
      share.folder.finish(intern(phase), keep(phase, share));
      blocks.insert(blocks.end(), std::make_move_iterator(share.blocks.begin()), std::make_move_iterator(share.blocks.end()));
      share.blocks.clear();
    }
    std::sort(blocks.begin(), blocks.end(), [](const ItemBlock& a, const ItemBlock& b) { return a.first < b.first; });
    std::vector<ItemBlock> whole;
    std::int64_t next = phase.written;
    const auto fill = [&](std::int64_t until) {
      if (next < until) whole.push_back({next, until, intern(phase)(ItemPattern{}), {}});
      next = until;
    };
    for (ItemBlock& block : blocks) {
      if (block.first < next) throw InputError("the capture stream runs iteration " + std::to_string(block.first) + " of a loop twice");
      if (block.first > next && phase.kind != RegionKind::thread) break;
      fill(block.first);
      next = block.last;
      whole.push_back(std::move(block));
    }
    if (phase.kind == RegionKind::thread) fill(execution.iterations);
    if (phase.region.is_none()) phase.region = region_of(phase, label_of(phase));
    write_blocks(phase, whole, place);
    execution.region = phase.region;
    execution.iterations = next;
    execution.step = phase.step_mark;
    writer_.close_execution(phase.execution, execution);
    // Marks of serial code without accesses stand before the next execution.
    for (Mark& mark : marks_) {
      mark.item = {phase.execution, 0};
      if (phase.kind != RegionKind::serial) mark.sequence = 0;
      writer_.add(mark);
    }
    marks_.clear();
    for (Mark& mark : phase.marks) {
      if (mark.item.iteration >= execution.iterations) continue;  // of a rank that another stands for
      mark.item.execution = phase.execution;
      writer_.add(mark);
    }
  }

  void end_parallel() {
    for (Rank& rank : ranks_) close_item(rank);
    std::size_t last = 0;  // phase that something was done in: the join follows it
    for (std::size_t p = 0; p < phases_.size(); ++p) {
      if (phases_[p].kind != RegionKind::thread || !phases_[p].by_rank.empty()) last = p;
    }
    TwinWork::Shares shares;
    for (std::size_t p = 0; p < phases_.size(); ++p) {
      Phase& phase = phases_[p];
      const bool code = phase.kind == RegionKind::thread;
      if (code && phase.by_rank.empty()) continue;
      const std::uint64_t accesses = phase.accesses();
      Execution execution;
      execution.team = parallel_team_;
      execution.parallel = static_cast<std::uint32_t>(parallel_serial_ + 1);
      execution.barrier_after = !phase.nowait || p == last;
      execution.iterations = code ? (bound_ ? parallel_team_ : 1) : phase.iterations;
      if (code) execution.binding = bound_ ? Binding::rank : Binding::replicated;
      if (code && !bound_) {
        // Every thread does the same: the first rank's share stands for all.
        if (phase.by_rank.begin()->first != 0) continue;
        phase.by_rank.erase(std::next(phase.by_rank.begin()), phase.by_rank.end());
      }
      write(phase, execution, phase_place(p));
      shares.emplace_back(phase.region, accesses);
      if (!code) tables_.regions[phase.region.index()].nowait = phase.nowait;
    }
    if (!cut_) work_.note("parallel", parallel_serial_, std::move(shares));
    in_parallel_ = false;
    rank_ = 0;
    ++parallel_count_;
    serial_parts_ = 0;
  }

  std::string label_of(const Phase& phase) {
    if (!phase.label.empty()) return phase.label;
    const auto index = static_cast<std::size_t>(&phase - phases_.data());
    const std::string base = parallel_label_ ? *parallel_label_ : numbered(parallel_site_);
    return phase.kind == RegionKind::thread ? base + ":code" + suffix(index) : base + suffix_of_loop(index);
  }

  RegionId region_of(const Phase& phase, const std::string& label) {
    const auto [known, fresh] = regions_.try_emplace(std::make_pair(label, phase.kind), RegionId{tables_.regions.size()});
    if (fresh) {
      Region region;
      region.kind = phase.kind;
      region.label = label;
      if (phase.kind != RegionKind::serial) region.site = site_id(phase.site);
      region.ordered = phase.ordered;
      if (phase.kind == RegionKind::loop) region.dimensions.push_back({phase.low, phase.high, phase.step});
      tables_.regions.push_back(region);
    }
    return known->second;
  }

  // --- the same iteration again and again -----------------------------------------------------------------------------------
  // A loop whose iterations do the same a constant distance further sends the same bytes for each of them, as bases are sent as
  // differences. Such iterations are recognised by their bytes, without folding them.
  void next_item(std::int64_t iteration) {
    Rank& rank = ranks_[rank_];
    Phase& phase = phases_[rank.phase];
    const bool simple = rank.only_runs && rank.in_item && phase.kind == RegionKind::loop;
    if (simple) {
      // Before the opcode and its number, whose length is that of a varint.
      std::size_t tail = 2;
      for (std::uint64_t rest = static_cast<std::uint64_t>(iteration) >> 7; rest != 0; rest >>= 7) ++tail;
      const auto bytes = in_.since(rank.begin);
      if (bytes.size() > tail && bytes.size() <= (64u << 10)) {
        template_.assign(bytes.begin(), bytes.end() - static_cast<std::ptrdiff_t>(tail));
      } else {
        template_.clear();
      }
    }
    const std::uint64_t accesses = rank.accesses;
    close_item(rank);
    if (simple && !template_.empty() && iteration == rank.iteration + 1) {
      Share& share = phase.by_rank[rank_];
      const std::int64_t room = repeatable(share.folder);
      std::int64_t repeated = 0;
      const std::uint64_t generation_step = template_.size() + 12;
      while (repeated < room) {
        const auto bytes = in_.ahead(generation_step);
        if (bytes.size() < template_.size() + 2 || std::memcmp(bytes.data(), template_.data(), template_.size()) != 0 ||
            bytes[template_.size()] != HN_ITEM) {
          break;
        }
        std::size_t at = template_.size() + 1;
        std::uint64_t number = 0;
        for (unsigned shift = 0; at < bytes.size() && shift < 64; shift += 7) {
          number |= static_cast<std::uint64_t>(bytes[at] & 127) << shift;
          if (bytes[at++] < 128) break;
        }
        if (bytes[at - 1] >= 128 || number != static_cast<std::uint64_t>(iteration) + 1) break;
        in_.skip(at);
        ++iteration;
        ++repeated;
      }
      if (repeated > 0) {
        share.folder.repeat(repeated);
        const std::uint64_t more = static_cast<std::uint64_t>(repeated) * accesses;
        share.accesses += more;
        result_.accesses += more;
        for (const std::uint32_t id : pcs_of_item_) {
          Pc& pc = pcs_[id];
          if (pc.at_item == pc.previous) continue;
          const std::uint64_t step = pc.previous - pc.at_item;
          pc.previous += step * static_cast<std::uint64_t>(repeated);
          pc.at_item = pc.previous;  // a site that made several runs moves once
        }
      }
    }
    for (const std::uint32_t id : pcs_of_item_) pcs_[id].at_item = pcs_[id].previous;
    pcs_of_item_.clear();
    rank.iteration = iteration;
    rank.in_item = true;
    rank.only_runs = true;
    rank.begin = in_.bookmark();
  }

  // How many more iterations may repeat the last one: none unless the shift of each run is the distance that the bytes
  // of an iteration move its site by; and only while all stays within its objects.
  std::int64_t repeatable(const BlockFolder& folder) const {
    if (!folder.steady()) return 0;
    const Item& item = folder.open_item();
    if (!item.pattern.streams.empty() || !item.pattern.heap_events.empty() || !item.pattern.sync_events.empty()) return 0;
    std::int64_t room = INT64_MAX;
    for (const AccessRun& run : item.pattern.runs) {
      const auto pc = std::find_if(pcs_of_item_.begin(), pcs_of_item_.end(), [&](std::uint32_t id) { return pcs_[id].site == run.site; });
      const std::int64_t shift = folder.shifts()[run.slot];
      // Sites of one place in the source may be several sites of the stream; all of them must move alike.
      if (pc == pcs_of_item_.end()) return 0;
      for (const std::uint32_t id : pcs_of_item_) {
        if (pcs_[id].site == run.site && static_cast<std::int64_t>(pcs_[id].previous - pcs_[id].at_item) != shift) return 0;
      }
      std::int64_t low = item.positions[run.slot].offset + run.offset, high = low + run.width;
      for (unsigned d = 0; d < run.dimensions; ++d) {
        const std::int64_t reach = (static_cast<std::int64_t>(run.dimension[d].count) - 1) * run.dimension[d].stride;
        (reach < 0 ? low : high) += reach;
      }
      const std::int64_t done = folder.last() - folder.first() - 1;
      const auto bytes = static_cast<std::int64_t>(tables_.objects[item.positions[run.slot].object.index()].bytes);
      if (shift > 0) room = std::min(room, (bytes - high) / shift - done);
      if (shift < 0) room = std::min(room, low / -shift - done);
    }
    return std::max<std::int64_t>(room, 0);
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

  void note_serial_work() {
    // Of a stretch that was cut the twin would tell too much.
    if (!cut_) work_.note("serial", parallel_count_, serial_shares_);
    serial_shares_.clear();
  }

  // --- the end --------------------------------------------------------------------------------------------------------------
  void hand_over_tables() {
    for (; sites_handed_over_ < tables_.sites.size(); ++sites_handed_over_) writer_.add(tables_.sites[sites_handed_over_]);
    for (; regions_handed_over_ < tables_.regions.size(); ++regions_handed_over_) writer_.add(tables_.regions[regions_handed_over_]);
    for (; objects_handed_over_ < tables_.objects.size(); ++objects_handed_over_) writer_.add(tables_.objects[objects_handed_over_]);
  }

  void finish() {
    note_serial_work();
    for (const Mark& mark : marks_) writer_.add(mark);  // nothing came after them
    look_up_lines();
    name_objects();
    for (Region& region : tables_.regions) note_clause(region);
    hand_over_tables();
    for (std::size_t i = 0; i < tables_.sites.size(); ++i) writer_.update(SiteId{i}, tables_.sites[i]);
    for (std::size_t i = 0; i < tables_.regions.size(); ++i) writer_.update(RegionId{i}, tables_.regions[i]);
    for (std::size_t i = 0; i < tables_.objects.size(); ++i) writer_.update(ObjectId{i}, tables_.objects[i]);
    for (const TracedThread& thread : tables_.threads) writer_.add(thread);
    if (!options_.work.empty()) {
      const TwinWork::Rates rates = work_.rates(options_.work);
      for (const auto& [region, work] : rates.per_access) writer_.work_rate(region, {work, {}});
      tables_.losses.insert(tables_.losses.end(), rates.losses.begin(), rates.losses.end());
    }
    for (const Loss& loss : tables_.losses) writer_.add(loss);
    TraceMeta meta;
    meta.tool = "homenode";
    meta.compiler = tables_.compiler;
    meta.program = tables_.program;
    meta.arguments = tables_.arguments;
    meta.capture_threads = team_;
    meta.page_size = tables_.page_size;
    writer_.meta(meta);
    result_.content_hash = writer_.finish(result_.complete);
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
      tables_.sites.push_back(entry);
    }
    return known->second;
  }

  // Files and lines of all sites, in one batch a module.
  void look_up_lines() {
    for (std::size_t module = 0; module < modules_.size(); ++module) {
      if (!modules_[module]) continue;
      std::vector<std::uint64_t> offsets;
      std::vector<SiteId> ids;
      for (const auto& [site, id] : site_ids_) {
        if (site.module != module) continue;
        offsets.push_back(site.offset);
        ids.push_back(id);
      }
      if (offsets.empty()) continue;
      const auto lines = modules_[module]->lines(offsets);
      for (std::size_t i = 0; i < ids.size() && i < lines.size(); ++i) {
        Site& site = tables_.sites[ids[i].index()];
        site.file = lines[i].first, site.line = lines[i].second;
      }
    }
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

  void note_clause(Region& region) {
    if (region.kind != RegionKind::loop) return;
    const Site& entry = tables_.sites[region.site.index()];
    for (const nlohmann::json& note : clauses_) {
      const std::string file = std::filesystem::path{note.at("file").get<std::string>()}.filename().string();
      const auto line = note.at("line").get<std::uint32_t>(), for_line = note.at("for_line").get<std::uint32_t>();
      if (file != entry.file || entry.line < line || entry.line > for_line) continue;
      if (!note.at("schedule").is_null()) region.schedule_clause = note.at("schedule").get<std::string>();
      region.reduction = note.at("reduction").get<bool>();
      return;
    }
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
  Item item_;                               // scratch
  std::vector<std::uint32_t> pcs_of_item_;  // sites that made runs in the current iteration
  std::vector<std::uint8_t> template_;
  std::size_t sites_handed_over_ = 0, regions_handed_over_ = 0, objects_handed_over_ = 0;
  TwinWork::Shares serial_shares_;  // of the code since the last parallel construct, which marks may cut
  std::uint64_t serial_ordinal_ = 0, serial_parts_ = 0, parallel_serial_ = 0, parallel_count_ = 0;
  std::optional<std::string> pending_label_, serial_label_, parallel_label_;
  CallSite parallel_site_;
  bool in_parallel_ = false, bound_ = false;
  std::vector<Rank> ranks_;
  std::vector<Phase> phases_;
  std::set<std::uint32_t> expect_barrier_;
  std::map<std::pair<std::string, RegionKind>, RegionId> regions_;
  std::map<CallSite, std::uint32_t> ordinals_;
  std::map<std::string, std::uint32_t> constructs_in_;
  std::vector<nlohmann::json> clauses_;
  TwinWork work_;
  bool cut_ = false;  // the stream ended in the middle
  std::int64_t step_ = -1;
  std::vector<Mark> marks_;  // of the serial code
};

}  // namespace

AssembleResult assemble(int descriptor, const AssembleOptions& options) { return Assembler{descriptor, options}.run(); }

}  // namespace homenode
