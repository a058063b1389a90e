// The assembler's state, for the files that share it: what is open while the stream comes in.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "traces/capture/assembler/assembler.hpp"
#include "traces/capture/assembler/folding.hpp"
#include "traces/capture/assembler/objects.hpp"
#include "traces/capture/assembler/program.hpp"
#include "traces/capture/assembler/stream.hpp"
#include "traces/capture/assembler/work.hpp"
#include "traces/capture/assembler/zero_fill.hpp"
#include "traces/format/trace_writer.hpp"

namespace homenode {

// What one rank did of a phase.
struct Share {
  BlockFolder folder;
  std::vector<ItemBlock> blocks;  // finished, by iteration
  std::uint64_t accesses = 0;
};

// A stretch of a parallel construct: a loop, sections, a single, or the code between them.
struct Phase {
  RegionKind kind = RegionKind::thread;
  std::size_t number = 0;         // in its construct's names
  bool bound = false;             // code that is another one for each rank: its ranks create tasks
  CallSite site;                  // of a parallel construct
  SiteId first_site = SiteId{0};  // of serial code
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

// The names of the stretches of one parallel construct, over all its executions: each belongs to a place in the source.
struct StretchNames {
  std::map<CallSite, std::size_t> constructs;  // loops, sections and singles, numbered by first appearance
  std::map<CallSite, std::size_t> code;        // by what it follows, numbered by its place in the construct at its first appearance
};

struct Rank {
  std::size_t phase = 0;
  std::uint32_t share = 0;  // of the phase's: its rank, or a new one where iterations come out of order
  ItemFolder folder;
  std::int64_t iteration = 0;
  bool in_item = false;  // accesses belong to an iteration or to code
  std::uint64_t accesses = 0;
  std::uint64_t before = 0;       // accesses of the stream's item that belong to an earlier execution or iteration: it was cut
  SiteId first_site = SiteId{0};  // of access 0, before it of the first heap call
  // Of an iteration that consists of runs only: where its bytes begin, and which sites made runs in it.
  bool only_runs = false;
  CaptureStream::Bookmark begin;
};

// A task whose code runs.
struct OpenTask {
  std::size_t place = 0;  // its execution among those of tasks
  std::int64_t iteration = 0;
  Rank rank;
};
// Those of one rank; each was created by the one before it, the first by what else the rank runs.
struct TaskStack {
  std::vector<std::unique_ptr<OpenTask>> tasks;  // beyond `open`: to be used again
  std::size_t open = 0;
};

// A thread that the program creates.
struct Body {
  std::uint32_t creator = 0;
  bool ended = false, spun = false;
  SiteId own_site = SiteId{0};  // the first access in a function that is not the library's
  std::int64_t iteration = 0;   // its code is one, unless it was cut
  Rank rank;
  Phase phase;
};

class Assembler {
public:
  Assembler(int descriptor, const AssembleOptions&);
  AssembleResult run();

private:
  // An access site: an instruction with one kind and width.
  struct Pc {
    AccessKind kind = AccessKind::read;
    std::uint16_t width = 0;
    bool bulk = false;
    SiteId site;
    std::uint64_t previous = 0, count = 1;
    std::int64_t stride = 0;
    std::uint64_t dsequence = 0, distance = 0;
    ObjectMap::Place place;     // of its last access
    std::uint64_t at_item = 0;  // `previous` when the current iteration began
  };

  // assembler.cpp: the end, the tables of the trace
  void add_loss(const Loss& loss);
  void hand_over_tables();
  void name_serial_regions();
  void flush();
  void note_why_cut();
  void finish();

  // messages.cpp: take_X() reads the fields of the message X and does what it says
  void take_message(std::uint8_t opcode);
  CallSite read_site();
  void take_hello();
  void take_module();
  void take_pc();
  void take_frame();
  void take_tls();
  void take_stack();
  void take_allocate();
  void take_release();
  void begin_with_call(const CallSite& site);
  void add_heap_event(Rank& rank, HeapOperation operation, ObjectId object, bool zeroed);
  void take_parallel_begin();
  void take_parallel_end();
  void take_rank();
  void take_loop_begin();
  void take_sections_begin();
  void take_item();
  void take_loop_end();
  void take_barrier();
  void take_single();
  void take_single_end();
  void take_sync();
  void take_thread();
  void take_thread_end();
  void take_task_begin();
  void take_user_rank();
  void take_loss();
  void take_end();
  void take_leaving();
  void take_may_cut();

  // runs.cpp
  Pc& pc_of(std::uint64_t id, const char* message);
  void take_run(bool same);
  void take_new_run() { take_run(false); }
  void take_same_run() { take_run(true); }
  void take_column();
  void take_short(bool pair);
  void place(Rank& rank, Pc& pc, std::uint64_t base, std::uint64_t sequence, std::uint64_t count, std::int64_t stride,
             std::uint64_t dsequence, std::uint64_t distance);
  bool fills_with_zeros(const Pc& pc, const ZeroFill::Writes& writes, bool in_order);
  void leave_out(const ZeroFill& whole);
  void end_zero_fills(const std::function<bool(const ZeroFill&)>& ends);
  void end_zero_fills() {
    end_zero_fills([](const ZeroFill&) { return true; });
    filled_with_zeros_ = 0;
  }

  // marks.cpp
  void take_mark();

  // constructs.cpp
  void begin_serial();
  void begin_serial_phase();
  void end_serial();
  void cut_serial();
  static void cut_item(Rank& rank);
  void begin_parallel(std::uint64_t serial, std::uint32_t team, const CallSite& site);
  StretchNames& stretch_names();
  Phase code(const CallSite& behind);
  void enter_code(const CallSite& behind);
  void enter(const Phase& phase);
  void leave();
  void close_item(Rank& rank);
  void add_item(Phase& phase, Share& share, std::int64_t iteration, Rank& rank);
  BlockFolder::Intern intern(Phase& phase);
  BlockFolder::Emit keep(Phase& phase, Share& share);
  void write_blocks(Phase& phase, std::vector<ItemBlock>& blocks, std::uint64_t place);
  void write(Phase& phase, Execution execution, std::uint64_t place);
  void end_parallel();
  void note_serial_work();
  bool is_bound(std::size_t phase);
  std::string label_of(const Phase& phase);
  RegionId region_of(const Phase& phase, const std::string& label);

  // threads.cpp
  void take_thread_create();
  void run_thread(std::uint64_t number);
  void cut_thread();
  void end_thread(std::uint64_t number);
  void end_threads();
  void note_own_site(SiteId site);
  std::string label_of_body(const Body& body) const;

  // tasks.cpp
  std::int64_t creators_iteration() const;
  std::size_t task_phase(const CallSite& site);
  void begin_task(const CallSite& site, std::uint64_t stack_of_creator);
  void take_task_end();
  void end_open_tasks();
  void write_tasks(TwinWork::Shares& shares);

  // repetition.cpp
  void next_item(std::int64_t iteration);
  std::int64_t repeatable(const BlockFolder& folder) const;

  Rank& current() {
    if (thread_ != 0) return bodies_[thread_ - 1].rank;
    if (!in_parallel_) return serial_;
    const TaskStack& tasks = task_stacks_[rank_];
    return tasks.open > 0 ? tasks.tasks[tasks.open - 1]->rank : ranks_[rank_];
  }
  // Program order: threads that the program creates, then the serial code before parallel construct k, the tasks and the phases of k.
  static constexpr std::uint64_t behind_threads = std::uint64_t{1} << 63;
  std::uint64_t serial_place() { return behind_threads | parallel_count_ << 24 | serial_parts_++; }
  std::uint64_t task_place(std::size_t place) const { return behind_threads | parallel_count_ << 24 | 1u << 22 | place; }
  std::uint64_t phase_place(std::size_t phase) const { return behind_threads | parallel_count_ << 24 | 1u << 23 | phase; }

  CaptureStream in_;
  const AssembleOptions& options_;
  std::string program_name_, arguments_;
  std::uint64_t page_size_ = 4096;
  TraceWriter writer_;
  AssembleResult result_;
  std::string leaving_;           // what the last message says that the program is about to do
  std::uint64_t flushed_at_ = 0;  // bytes of the stream when the file was last made whole

  // Tables as they grow; rows that blocks refer to are handed to the writer before them.
  ProgramText program_;
  ObjectMap objects_{program_};
  std::vector<Region> regions_;
  std::vector<TracedThread> threads_;
  std::vector<Loss> losses_;
  std::size_t sites_handed_over_ = 0, regions_handed_over_ = 0, objects_handed_over_ = 0;
  std::map<std::pair<std::string, RegionKind>, RegionId> region_ids_;
  TwinWork work_;

  std::vector<Pc> pcs_;
  std::set<std::uint32_t> streamable_;      // objects
  std::vector<ZeroFill> zero_fills_;        // of blocks of the current item that may yet be filled, as few as `most_zero_fills`
  std::uint64_t filled_with_zeros_ = 0;     // bytes of those that were
  Item item_;                               // scratch
  std::vector<std::uint32_t> pcs_of_item_;  // sites that made runs in the current iteration
  std::vector<std::uint8_t> template_;      // bytes of the iteration before

  bool ended_ = false;
  bool cut_ = false;  // the stream ended in the middle
  std::uint32_t team_ = 1, rank_ = 0;
  std::int64_t step_ = -1;
  std::optional<std::string> pending_label_;

  // Threads that the program creates; 0 is the first one.
  std::vector<Body> bodies_;
  std::uint32_t thread_ = 0;

  // Serial code
  bool serial_spun_ = false;
  Rank serial_;
  Phase serial_phase_;                 // once a part of it was cut
  std::int64_t serial_iteration_ = 0;  // one, unless it was cut
  std::vector<Mark> marks_;
  std::optional<std::string> serial_label_;
  TwinWork::Shares serial_shares_;  // of the code since the last parallel construct, which marks may cut
  std::uint64_t serial_parts_ = 0;

  // The parallel construct
  bool in_parallel_ = false;
  std::size_t asked_from_ = 0;  // the first phase in which the program knows its rank
  std::uint64_t parallel_serial_ = 0, parallel_count_ = 0;
  std::uint32_t parallel_team_ = 1;
  std::optional<std::string> parallel_label_;
  CallSite parallel_site_;
  std::vector<Rank> ranks_;
  std::vector<Phase> phases_;
  std::map<std::pair<std::string, CallSite>, StretchNames> stretch_names_;  // by label, or by the construct's place
  std::set<std::uint32_t> expect_barrier_;

  // Its tasks
  std::vector<TaskStack> task_stacks_;                                  // by rank
  std::deque<Phase> task_phases_;                                       // by place that creates them
  std::map<std::string, std::map<CallSite, std::size_t>> task_places_;  // by construct, of the whole program
  std::uint32_t tasks_begun_ = 0;
};

}  // namespace homenode
