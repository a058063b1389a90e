// Serial code and parallel constructs become executions of regions.
#include <algorithm>
#include <iterator>
#include <utility>

#include "sim/base/errors.hpp"
#include "traces/capture/assembler/state.hpp"

namespace homenode {

void Assembler::begin_serial() {
  serial_ = {};
  serial_.in_item = true;
  serial_label_.reset();
  serial_phase_ = {};
  serial_iteration_ = 0;
}

void Assembler::begin_serial_phase() {
  if (!serial_phase_.region.is_none()) return;
  serial_phase_.kind = RegionKind::serial;
  serial_phase_.step_mark = step_;
  serial_phase_.first_site = serial_.first_site;
  serial_phase_.label = serial_label_ ? *serial_label_ : program_.numbered_serial(serial_.first_site);
  serial_phase_.region = region_of(serial_phase_, serial_phase_.label);
}

void Assembler::end_serial() {
  if (pending_label_ && ended_) serial_label_ = std::exchange(pending_label_, std::nullopt);
  if (serial_.folder.is_empty() && serial_iteration_ == 0) return;
  begin_serial_phase();
  Phase phase = std::exchange(serial_phase_, {});
  Share& share = phase.by_rank[0];
  if (!serial_.folder.is_empty()) add_item(phase, share, serial_iteration_++, serial_);
  Execution execution;
  execution.iterations = serial_iteration_;
  write(phase, execution, serial_place());
  serial_shares_.push_back({.region = phase.region, .accesses = share.accesses});
  serial_ = {};
  serial_iteration_ = 0;
}

// What comes after belongs to another execution; the stream goes on counting.
void Assembler::cut_serial() {
  const std::uint64_t before = serial_.before + serial_.accesses;
  end_serial();
  begin_serial();
  serial_.before = before;
}

// What comes after belongs to the next iteration.
void Assembler::cut_item(Rank& rank) {
  const std::uint64_t before = rank.before + rank.accesses;
  rank = {};
  rank.in_item = true;
  rank.before = before;
}

// Code that a later mark names is left whole, and so is what folds.
void Assembler::take_may_cut() {
  if (thread_ == 0 && (in_parallel_ || pending_label_)) return;
  ItemFolder& folder = current().folder;
  if (folder.held() < options_.long_item) return;
  folder.fold();
  if (folder.held() < options_.long_item) return;
  if (thread_ != 0) return cut_thread();
  begin_serial_phase();
  add_item(serial_phase_, serial_phase_.by_rank[0], serial_iteration_++, serial_);
  cut_item(serial_);
}

void Assembler::begin_parallel(std::uint64_t serial, std::uint32_t team, const CallSite& site) {
  end_serial();
  note_serial_work();
  in_parallel_ = true;
  asked_from_ = SIZE_MAX;
  parallel_serial_ = serial;
  parallel_team_ = team;
  parallel_site_ = site;
  parallel_label_ = std::exchange(pending_label_, std::nullopt);
  ranks_ = std::vector<Rank>(team);
  task_stacks_.resize(team);
  pcs_of_item_.clear();
  phases_.clear();
  expect_barrier_.clear();
  objects_.begin_parallel();
  rank_ = 0;
  phases_.push_back(code({}));
  for (Rank& rank : ranks_) rank.in_item = true;
}

StretchNames& Assembler::stretch_names() {
  return stretch_names_[parallel_label_ ? std::pair{*parallel_label_, CallSite{}} : std::pair{std::string{}, parallel_site_}];
}

// What follows the construct or barrier there; nothing: the beginning.
Phase Assembler::code(const CallSite& behind) {
  std::map<CallSite, std::size_t>& code = stretch_names().code;
  const auto [known, fresh] = code.try_emplace(behind, phases_.size());
  if (fresh) {
    std::size_t& number = known->second;
    const auto has_number = [&](const auto& other) { return other.first != behind && other.second == number; };
    while (std::any_of(code.begin(), code.end(), has_number)) ++number;
  }
  Phase phase;
  phase.number = known->second;
  phase.kind = RegionKind::thread;
  phase.site = parallel_site_;
  phase.step_mark = step_;
  return phase;
}

void Assembler::enter_code(const CallSite& behind) {
  if (ranks_[rank_].phase == phases_.size()) phases_.push_back(code(behind));
  ranks_[rank_].in_item = true;
}

void Assembler::enter(const Phase& phase) {
  if (!in_parallel_) return;
  Rank& rank = ranks_[rank_];
  close_item(rank);
  ++rank.phase;
  rank.share = rank_;
  if (rank.phase == phases_.size()) {
    phases_.push_back(phase);
    std::map<CallSite, std::size_t>& constructs = stretch_names().constructs;
    phases_.back().number = constructs.try_emplace(phase.site, constructs.size()).first->second;
    phases_.back().step_mark = step_;
    phases_.back().label = pending_label_ ? *std::exchange(pending_label_, std::nullopt) : "";
  }
  rank.in_item = false;
}

void Assembler::leave() {
  Rank& rank = ranks_[rank_];
  close_item(rank);
  const CallSite behind = phases_[rank.phase].site;
  ++rank.phase;
  enter_code(behind);
}

void Assembler::close_item(Rank& rank) {
  Phase& phase = phases_[rank.phase];
  if (rank.in_item && !(rank.folder.is_empty() && phase.kind == RegionKind::thread)) {
    const auto index = static_cast<std::uint32_t>(&rank - ranks_.data());
    const std::int64_t iteration = phase.kind == RegionKind::thread ? index : rank.iteration;
    add_item(phase, phase.by_rank[phase.kind == RegionKind::loop ? rank.share : index], iteration, rank);
  } else {
    rank.folder.finish(item_);
  }
  rank.accesses = 0;
  rank.in_item = false;
}

void Assembler::add_item(Phase& phase, Share& share, std::int64_t iteration, Rank& rank) {
  rank.folder.finish(item_);
  share.accesses += item_.pattern.accesses;
  share.folder.add(iteration, item_, intern(phase), keep(phase, share));
}

BlockFolder::Intern Assembler::intern(Phase& phase) {
  return [this, &phase](const ItemPattern& pattern) {
    if (phase.region.is_none()) phase.region = region_of(phase, label_of(phase));
    hand_over_tables();
    return writer_.add(phase.region, pattern);
  };
}

// Many blocks are written on the way, if they are the next ones.
BlockFolder::Emit Assembler::keep(Phase& phase, Share& share) {
  return [this, &phase, &share](ItemBlock block) {
    share.blocks.push_back(std::move(block));
    if (share.blocks.size() >= 65536 && phase.kind == RegionKind::loop && share.blocks.front().first == phase.written) {
      write_blocks(phase, share.blocks, phase_place(static_cast<std::size_t>(&phase - phases_.data())));
    }
  };
}

void Assembler::write_blocks(Phase& phase, std::vector<ItemBlock>& blocks, std::uint64_t place) {
  hand_over_tables();
  if (phase.execution.is_none()) phase.execution = writer_.open_execution(phase.region, place);
  if (!blocks.empty()) phase.written = blocks.back().last;
  for (ItemBlock& block : blocks) writer_.append(phase.execution, std::move(block));
  blocks.clear();
}

// Of a killed program's loop the iterations that came without a gap are kept; ranks without code of their own do nothing.
void Assembler::write(Phase& phase, Execution execution, std::uint64_t place) {
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
    const bool is_serial = phase.kind == RegionKind::serial;
    mark.item = {phase.execution, is_serial ? std::min(mark.item.iteration, execution.iterations - 1) : 0};
    if (!is_serial) mark.sequence = 0;
    writer_.add(mark);
  }
  marks_.clear();
  for (Mark& mark : phase.marks) {
    if (mark.item.iteration >= execution.iterations) continue;  // of a rank that another stands for
    mark.item.execution = phase.execution;
    writer_.add(mark);
  }
}

void Assembler::end_parallel() {
  end_open_tasks();
  for (Rank& rank : ranks_) close_item(rank);
  std::size_t last = 0;  // phase that something was done in: the join follows it
  for (std::size_t p = 0; p < phases_.size(); ++p) {
    if (phases_[p].kind != RegionKind::thread || !phases_[p].by_rank.empty()) last = p;
  }
  TwinWork::Shares shares;
  write_tasks(shares);
  for (std::size_t p = 0; p < phases_.size(); ++p) {
    Phase& phase = phases_[p];
    const bool code = phase.kind == RegionKind::thread;
    if (code && phase.by_rank.empty()) continue;
    const std::uint64_t accesses = phase.accesses();
    Execution execution;
    execution.team = parallel_team_;
    execution.parallel = static_cast<std::uint32_t>(parallel_serial_ + 1);
    execution.barrier_after = !phase.nowait || p == last;
    const bool bound = code && is_bound(p);
    execution.iterations = code ? (bound ? parallel_team_ : 1) : phase.iterations;
    if (code) execution.binding = bound ? Binding::rank : Binding::replicated;
    if (code && !bound) {
      // Every thread does the same: the first rank's share stands for all.
      if (phase.by_rank.begin()->first != 0) continue;
      phase.by_rank.erase(std::next(phase.by_rank.begin()), phase.by_rank.end());
    }
    write(phase, execution, phase_place(p));
    shares.push_back({phase.region, accesses, static_cast<std::uint64_t>(execution.iterations)});
    if (!code) regions_[phase.region.index()].nowait = phase.nowait;
  }
  if (cut_)
    work_.leave_out();
  else
    work_.note("parallel", parallel_serial_, std::move(shares));
  in_parallel_ = false;
  rank_ = 0;
  ++parallel_count_;
  serial_parts_ = 0;
}

void Assembler::note_serial_work() {
  // Of a stretch that was cut the twin would tell too much.
  if (cut_ || serial_spun_)
    work_.leave_out();
  else
    work_.note("serial", parallel_count_, serial_shares_);
  if (serial_spun_) add_loss({SiteId{0}, "serial code that spins has no work counts", 1});
  serial_spun_ = false;
  serial_shares_.clear();
}

namespace {

bool do_the_same(const std::vector<ItemBlock>& a, const std::vector<ItemBlock>& b) {
  const auto binds_same = [](const SlotBinding& one, const SlotBinding& other) {
    return one.object == other.object && one.base == other.base;
  };
  return a.size() == 1 && b.size() == 1 && a[0].pattern == b[0].pattern &&
         std::equal(a[0].slots.begin(), a[0].slots.end(), b[0].slots.begin(), b[0].slots.end(), binds_same);
}

}  // namespace

// Code that knows its rank need not make use of it: where all ranks do the same, every thread of any team does.
bool Assembler::is_bound(std::size_t index) {
  Phase& phase = phases_[index];
  if (phase.bound || index < asked_from_) return phase.bound;
  for (auto& [rank, share] : phase.by_rank) share.folder.finish(intern(phase), keep(phase, share));
  if (phase.by_rank.size() != parallel_team_ || parallel_team_ == 1) return true;
  const std::vector<ItemBlock>& first = phase.by_rank.begin()->second.blocks;
  return !std::all_of(phase.by_rank.begin(), phase.by_rank.end(),
                      [&](const auto& share) { return do_the_same(first, share.second.blocks); });
}

std::string Assembler::label_of(const Phase& phase) {
  if (!phase.label.empty()) return phase.label;
  const std::string label = parallel_label_ ? *parallel_label_ : program_.numbered(parallel_site_);
  const std::string number = phase.number == 0 ? "" : std::to_string(phase.number);
  if (phase.kind == RegionKind::thread) return label + ":code" + number;
  return number.empty() ? label : label + "." + number;
}

RegionId Assembler::region_of(const Phase& phase, const std::string& label) {
  const auto [known, fresh] = region_ids_.try_emplace(std::make_pair(label, phase.kind), RegionId{regions_.size()});
  if (fresh) {
    Region region;
    region.kind = phase.kind;
    region.label = label;
    region.site = phase.kind == RegionKind::serial ? phase.first_site : program_.site_id(phase.site);
    region.ordered = phase.ordered;
    if (phase.kind == RegionKind::loop) region.dimensions.push_back({phase.low, phase.high, phase.step});
    regions_.push_back(region);
  }
  return known->second;
}

}  // namespace homenode
