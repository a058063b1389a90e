// Small measurements on this host, each a few milliseconds to a second. Several samples each.
// They use real time and real threads: nothing here is repeatable to the last digit, and nothing in the simulation calls it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.hpp"

namespace homenode::native {

// The best of the samples, with the smallest and largest: what else runs on a host only ever makes it slower (as STREAM
// and lmbench report).
struct Spread {
  double value = 0, low = 0, high = 0;
  double median = 0;
  std::string disturbance = {};  // why they may not be the host's own figures (host_load.hpp); empty = nothing known against them
  unsigned passes = 0;           // that it was made of (figures.hpp)
  std::string unsettled = {};    // what is still open after them; empty = it has settled
};
Spread least(const std::vector<double>& times);
Spread most(const std::vector<double>& rates);

// Memory of whole huge pages where the system gives them, zeroed, on the node of the thread that first writes; or on `node`, by the
// system's number: Error where the system refuses that.
class Buffer {
public:
  enum class Pages { huge, small };
  explicit Buffer(std::size_t bytes, Pages = Pages::huge, std::optional<unsigned> node = std::nullopt);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer& operator=(Buffer&&) = delete;
  char* data() const { return data_; }
  std::size_t size() const { return bytes_; }

private:
  char* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// CPUs of this host that this process may use, one a core, in the system's numbering.
std::vector<unsigned> usable_cpus();
// Throws Error if the system refuses.
void pin_this_thread(unsigned cpu);
// On a thread of its own that is pinned, so that the caller's affinity stays as it is; throws what `work` throws.
void on_cpu(unsigned cpu, const std::function<void()>& work);

// A chain of dependent additions, one a cycle on every core of today; a sample is of so many. For less than a millisecond a core may run
// faster than it does for long: by 5 % on a virtual machine whose clock goes up and down.
inline constexpr std::uint64_t additions_of_long_samples = 30'000'000, additions_of_short_samples = 2'000'000;
Spread core_hertz(std::uint64_t additions, unsigned repeats);

// Nanoseconds of a load that waits for the one before, over `working_set` bytes in an order that no prefetcher follows.
Spread chase_nanoseconds(const Buffer&, std::size_t working_set, unsigned repeats);
// Nanoseconds of a load at random places that waits for none: the core keeps as many misses in flight as it can.
Spread gather_nanoseconds(const Buffer&, std::size_t working_set, unsigned repeats);

// The translation buffer for pages of `page` bytes: how many pages it reaches, and what a miss costs more than a hit.
// Found by dependent loads, one line a page, against the same number of lines side by side; entries = 0 if nothing shows. 0 if
// what a miss costs independent loads does not show. Likewise of the first of two levels, whose misses the second one serves.
struct TranslationBuffer {
  unsigned entries = 0;
  Spread miss_nanoseconds;
  double independent_nanoseconds = 0;
  unsigned first_entries = 0;
  double first_nanoseconds = 0, first_independent_nanoseconds = 0;
};
TranslationBuffer translation_buffer(std::size_t page, unsigned repeats);

// How a buffer of about `entries` translations is divided. Pages lie in one set if the low bits of their numbers are the same, or the XOR
// of these and as many next ones: the most sets for which more such pages than a set has ways are not held. ways = 0 if there is
// none.
struct TranslationSets {
  unsigned ways = 0, sets = 0;
  bool folded = false;
};
TranslationSets translation_sets(std::size_t page, unsigned entries, unsigned repeats);

// The most pages, in eighths of the entries, of which fewer than half miss, in the median, where a program goes round them all, side by
// side: what others on the core leave of the buffer. From half of the entries to four times as many.
unsigned reached_pages(std::size_t page, const TranslationBuffer&, unsigned repeats);

enum class Kernel { read, copy_regular, copy_nontemporal, triad, write_regular, write_nontemporal, update };
std::string name_of(Kernel);
// Real bytes an element of 8 B: a regular store reads its line first.
double read_bytes(Kernel);
double write_bytes(Kernel);
// Real bytes a second that one pinned thread on each of `cpus` moves together, each in arrays of its own of `array` bytes.
Spread bandwidth(Kernel, const std::vector<unsigned>& cpus, std::size_t array, unsigned repeats);

// Bytes a second that one pinned thread on each of `cpus` reads together, each in memory of its own of `array` bytes on one of `nodes`, in
// turn (the system's numbers).
Spread bandwidth_from_nodes(const std::vector<unsigned>& cpus, const std::vector<unsigned>& nodes, std::size_t array, unsigned repeats);

// Bytes a second that one core reads in so many streams side by side, a line of each in turn.
double stream_bandwidth(unsigned streams, const Buffer&, unsigned repeats);

// Nanoseconds of a load that waits for no other one, `stride` bytes behind the one before, through the whole buffer; from its begin on
// again, a line later, until `loads` are made.
double strided_nanoseconds(const Buffer&, std::size_t stride, std::size_t loads, unsigned repeats);

// Nanoseconds a line of `lines` lines in a row, read at random places of the buffer until `loads` are made.
double run_nanoseconds(const Buffer&, std::size_t lines, std::size_t loads, unsigned repeats);

// Nanoseconds a line of a core that reads `bytes` again and again, line by line, and computes `cycles` of dependent additions beside each:
// how computing and transfers add up. 0 cycles: the transfers alone. Of a set larger than a sample, samples read one part after the other,
// from byte `at` on, which is moved on.
double composed_nanoseconds(const Buffer&, std::size_t bytes, unsigned cycles, unsigned repeats, std::size_t& at);
inline constexpr unsigned composed_cycles_step = 4;  // `cycles` is a multiple of it

// Nanoseconds a line of a core that reads the first `bytes` again and again, each line by eight loads that nothing waits for.
double loads_nanoseconds(const Buffer&, std::size_t bytes, unsigned repeats);

// Nanoseconds of a load that waits for no other one, of `lines` lines that lie `period` bytes apart and are read again and again, in no
// order that a prefetcher follows.
double same_set_nanoseconds(const Buffer&, std::size_t lines, std::size_t period, unsigned repeats);

// Nanoseconds a line of `bytes`, read in order, beside `streams` rows behind it that are read again, with a chain of `additions` on each
// line. `at` as above.
struct Reread {
  unsigned streams = 0, additions = 0;
};
double reread_nanoseconds(const Buffer&, std::size_t bytes, const Reread&, unsigned repeats, std::size_t& at);

// Nanoseconds that a branch costs which was predicted wrong, when its condition is a cycle old; 0 where this architecture has no
// measurement.
double misprediction_nanoseconds(unsigned repeats);

// How much longer a loop takes each of two CPUs that needs all of a core's issue slots when both run it: 1 where each has a core of its
// own, about 2 where they share one.
double sharing_slowdown(unsigned first_cpu, unsigned second_cpu, unsigned repeats);

// Nanoseconds that a load at random places of `working_set` waits longer on small pages than on huge ones: what page walks cost there.
double page_walk_nanoseconds(std::size_t working_set, unsigned repeats);
// Nanoseconds by which streams of loads over `array` bytes that advance together take longer, each time they all go on by a page of
// `page` bytes, on small pages than on huge ones: the mean of one, two, four and eight streams.
double stream_walk_nanoseconds(std::size_t array, std::size_t page, unsigned repeats);

// Nanoseconds from one core's store to another's load of it: half a round trip.
Spread core_to_core_nanoseconds(unsigned first_cpu, unsigned second_cpu, unsigned repeats);
// Nanoseconds of a barrier among pinned threads that spin.
Spread barrier_nanoseconds(const std::vector<unsigned>& cpus, unsigned repeats);

// Scalar instructions a second from the first-level cache and registers; empty where this architecture has no measurement.
struct Throughput {
  std::string name;  // of the field in [core]
  Spread per_second;
};
std::vector<Throughput> core_throughput(unsigned repeats);

}  // namespace homenode::native
