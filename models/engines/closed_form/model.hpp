// The closed form's own types: Eigen stays in its sources.
#pragma once

#include <Eigen/Core>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "models/caches/recency_stack.hpp"
#include "models/engines/closed_form/closed_form.hpp"
#include "models/engines/parts/core_clocks.hpp"
#include "models/engines/parts/message_costs.hpp"
#include "sim/memory/warm_frames.hpp"

namespace homenode {

inline Eigen::Index at(std::size_t index) { return static_cast<Eigen::Index>(index); }

class ClosedForm final : public ProgramOracle {
public:
  ClosedForm(const Workload&, const Machine&, const Topology&, const TrafficTable&, PagePlacement&, std::vector<CoreId> team,
             const OperatingSystem&, bool zeroes_in_caches);

  RegionEstimate estimate(ExecutionId, std::span<const ScheduledRange>) const override;
  void record_execution(ExecutionId, std::span<const ScheduledRange>) override;
  double fork_seconds() const override { return fork_; }
  double barrier_seconds(ExecutionId) const override;
  double barrier_seconds() const override { return barrier_; }
  std::vector<double> touch_first(std::span<const TouchedPages>) override;
  std::vector<double> cell_seconds(ExecutionId) const override;

private:
  using Matrix = Eigen::ArrayXXd;
  static constexpr std::uint8_t unplaced = 255;
  static constexpr std::uint16_t nobody = 0xFFFF;

  struct Piece {  // of a cell, run by one thread
    std::uint32_t cell = 0;
    std::uint16_t thread = 0;
    double fraction = 1;
  };
  // Who runs which cell; a cell of several threads counts for the one that runs most of it where others ask for its owner.
  struct Owners {
    std::vector<std::uint16_t> of_cell;
    std::vector<std::uint32_t> turn;   // by cell: how many cells its owner ran before
    std::vector<std::uint32_t> cells;  // by thread
    double threads = 1;                // that run anything
    bool contiguous = true;            // each thread's cells follow each other
  };
  struct Assignment {
    Owners owners;
    std::vector<Piece> pieces;
    std::vector<double> overhead;  // by thread
  };
  // What the threads move, and how long they compute at the base clock.
  struct Demand {
    Eigen::ArrayXd core, walks, transfers, faults;             // seconds, walked pages / parallelism, seconds, pages; by thread
    Eigen::ArrayXd zeroing;                                    // seconds that its faults wait for lines to zero, by thread
    Eigen::ArrayXd cold_faults;                                // pages of `faults` on frames that no cache held
    Eigen::ArrayXd stream_walks;                               // pages that loads' streams walk for
    Matrix hit_lines, hit_weight;                              // thread x level
    Matrix read_lines, read_weight, writebacks, non_temporal;  // thread x home
    Eigen::ArrayXd loads, transferred;                         // instructions that load, lines from other cores' caches; by thread
    Eigen::ArrayXd waited_transfers;                           // seconds of loads that are waited for, from other cores, by thread
    Matrix waited_hits, waited_reads;                          // lines of such loads: thread x level, thread x home
    Matrix link_bytes;                                         // thread x directed link, of transfers
    Eigen::ArrayXd streaming;                                  // seconds of latency of all non-temporal stores, by thread
    Eigen::ArrayXd taken_in;                                   // lines that came into its domain's caches, by thread
    Matrix dropped;                                            // domain x home: lines that stores past the caches made worthless
    Matrix dirtied;                                            // domain x home: lines newly modified
    Eigen::ArrayXd side_hits;                                  // by home: share of its lines that its memory-side cache has; empty without
  };
  struct Domain {  // caches at the end of a path, and what they hold
    double held = 0;
    Eigen::ArrayXd modified;  // of it, by home
  };
  struct Rows;
  struct Known;  // what cells ask for whose lines were always their thread's own, kept from estimate to estimate
  struct Homes;  // of parts, kept while no page is placed
  struct Found;  // where a part's lines are

  static void join_pieces(std::vector<Piece>&);
  static void own_most(std::span<const Piece>, Owners&);
  Assignment assign(const RegionTraffic&, std::span<const ScheduledRange>) const;
  Demand demand(const RegionTraffic&, const Assignment&) const;
  // What an execution asks for, before lines are pushed out. The last one is kept: who estimates mostly records next.
  struct Worked {
    ExecutionId id;
    std::vector<ScheduledRange> schedule;
    Assignment assignment;
    Demand asked;
  };
  Worked& work_out(ExecutionId, std::span<const ScheduledRange>) const;
  double zeroing_time(std::size_t thread, NodeId home) const;
  void place_fresh_pages(const RegionTraffic&, const Assignment&, Demand&) const;
  double beyond_first(double latency) const;
  Found find(const TrafficPart&, std::uint32_t cell, std::uint16_t thread, const Owners&) const;
  void on_fresh_page(const TrafficPart&, Found&) const;
  void hold(double distance, std::uint16_t thread, bool own, Found&) const;
  const Owners* owners_of(LoopNumber loop) const { return loop == no_loop || !owners_[loop] ? nullptr : &*owners_[loop]; }
  void evict(Demand&, std::vector<Domain>&) const;
  RegionEstimate time(const Demand&, const Assignment&, const Eigen::ArrayXd& cycles) const;
  Matrix resource_seconds(const Demand&) const;
  void use_controllers(const Demand&, Matrix& uses) const;
  void use_ports(const Demand&, Matrix& uses) const;
  Eigen::ArrayXd side_cache_shares(const std::vector<std::uint8_t>& home_of) const;
  Eigen::ArrayXd hit_time(const Demand&, const Eigen::ArrayXd& cycles) const;
  Eigen::ArrayXd lines_that_come_in(const Demand&) const;
  Eigen::ArrayXd waited_time(const Demand&, const Matrix& latency, const Eigen::ArrayXd& cycles) const;
  Matrix idle_latency(const Demand&) const;
  Matrix loaded_latency(const Demand&, const Matrix& uses, const Eigen::ArrayXd& alone, const Eigen::ArrayXd& undisturbed) const;
  const Homes& homes_of(const RegionTraffic&, bool fresh) const;
  Known& known_of(const RegionTraffic&, const Owners&) const;
  bool of_one_thread(const Known&, std::uint32_t cell, std::uint16_t thread, const Owners&) const;
  void add_own_work(const RegionTraffic&, const Piece&, const Rows&, double* row) const;
  bool add_piece(const RegionTraffic&, const Homes&, const Piece&, const Owners&, const Rows&, double* row, Demand&) const;

  const Workload& workload_;
  const Machine& machine_;
  const Topology& topology_;
  const TrafficTable& table_;
  PagePlacement& placement_;
  std::vector<CoreId> team_;
  OperatingSystem system_;
  bool zeroes_in_caches_;
  MessageCosts messages_;
  CoreClocks core_clocks_;
  double fork_ = 0, barrier_ = 0, reduction_ = 0;

  std::size_t levels_ = 0, private_levels_ = 0, domain_count_ = 0;
  bool victims_ = false;             // the shared levels are filled by what the private ones push out
  std::vector<StackBounds> bounds_;  // of the private levels, then of each shared one
  double private_lines_ = 0, domain_lines_ = 0;
  std::vector<std::size_t> domain_of_;        // by thread
  std::vector<std::vector<double>> sharers_;  // by thread and level: threads of the team that share its cache
  Matrix latency_;                            // thread x home, seconds
  std::vector<SocketId> socket_;              // by thread
  std::vector<NodeId> node_;
  Matrix read_cost_, write_cost_;  // home x controller, seconds a line

  std::vector<std::uint8_t> home_of_;          // by page
  std::vector<std::optional<Owners>> owners_;  // by loop, as it was run last
  std::vector<Domain> domains_;
  std::uint64_t placements_ = 0;  // how often pages were placed
  std::uint64_t teams_ = 0;       // how often a loop ran with another number of threads than before
  std::size_t classes_ = 0;       // of threads that share caches with as many others
  std::vector<std::size_t> class_of_;
  mutable std::unordered_map<const RegionTraffic*, std::unique_ptr<Known>> known_;
  WarmFrames warm_;
  mutable std::vector<std::uint8_t> preview_;  // `home_of_` and `warm_` once the execution that is looked at has run
  mutable WarmFrames preview_warm_;
  mutable std::optional<Worked> worked_;  // nothing has been recorded or previewed since
  mutable std::unordered_map<const RegionTraffic*, std::unique_ptr<Homes>> homes_;
};

// When threads end that start together: each takes `minimum` alone, and so many seconds of each shared resource.
std::vector<double> fair_times(const Eigen::ArrayXd& minimum, const Eigen::ArrayXXd& uses);

struct ClosedForm::Known {
  enum State : std::uint8_t { unknown, kept, never };
  std::uint64_t placements = 0, teams = 0;  // that the rows hold for
  double threads = 0;
  std::vector<std::uint32_t> first;                          // by cell, and one more
  std::vector<std::pair<LoopNumber, std::uint32_t>> others;  // cells that touched its lines before; no_loop: of the same execution
  std::vector<double> rows;                                  // by class of thread and cell
  std::vector<std::uint8_t> state;
};

struct ClosedForm::Homes {
  struct Share {
    std::uint8_t home = 0;  // unplaced: as local to whoever asks
    float lines = 0;
  };
  std::vector<std::uint32_t> first;  // by part, and one more
  std::vector<Share> shares;
  std::uint64_t placements = 0;  // that it was made after
};

// Shares of a part's lines.
struct ClosedForm::Found {
  static constexpr std::size_t most_levels = 8;
  std::array<double, most_levels> level{};
  bool fresh = false;                    // nobody had come to them: their pages have just been zeroed
  double memory = 0, near = 0, far = 0;  // near, far: from a cache of this domain, of another one
  std::uint16_t owner = 0;               // of what is transferred
  double modified = 0;                   // of the lines: in the thread's own caches, and newer than memory already
  double distance = 1e18;                // lines that the thread touched since it used them last
};

}  // namespace homenode
