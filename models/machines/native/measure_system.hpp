// What the operating system of this host takes for its services. Nanoseconds, one sample a call; real time and real threads, nothing in
// the simulation calls it. Fixed costs drop out where a figure is a slope between two sizes.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace homenode::native {

// Which access to a page that the process does not have yet.
enum class FirstAccess {
  write,    // a fresh page, zeroed
  read,     // the shared page of zeros: no page, nothing zeroed
  rewrite,  // a fresh page where the process had one before and gave it back (MADV_DONTNEED), as heaps do
};
// A fault of one page of the smallest size: slope between these bytes of new memory. Memory that the system gives out again: what it has
// never given out yet, a hypervisor may first have to provide.
struct NewMemory {
  std::size_t few = 0, many = 0;
};
double fault_nanoseconds(FirstAccess, NewMemory);
// A load from a page that the first write to it has just made the kernel zero: half of its lines in random order, each load waiting for the
// one before. Mean of the pages of `bytes` of new memory.
double fresh_line_nanoseconds(std::size_t bytes);
// The same where each of `cpus` faults in its own part of one mapping of `bytes`, all at once: mean of the threads.
double contended_fault_nanoseconds(const std::vector<unsigned>& cpus, std::size_t bytes);
// A fault that gives a page of 2 MiB; nothing where the system does not give such pages.
std::optional<double> huge_fault_nanoseconds();

// mmap and munmap of one page that is never touched: the pair.
double map_nanoseconds();
// munmap of a page that was written, beside the call: slope over pages.
double unmap_page_nanoseconds();
// A system call that does nothing.
double system_call_nanoseconds();

// A core turns from one thread to another: half a round trip through two pipes of two threads on one CPU, less a write and a read that
// switch nothing.
double context_switch_nanoseconds(unsigned cpu);
// From the call that wakes a thread to its first instruction, on another CPU that was idle for about `idle_microseconds`.
double wakeup_nanoseconds(unsigned waker_cpu, unsigned sleeper_cpu, double idle_microseconds);
// Creates a thread and waits for its end.
double thread_nanoseconds();

}  // namespace homenode::native
