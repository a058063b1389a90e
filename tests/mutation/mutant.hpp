// The switch of a mutant: on where HOMENODE_MUTANT is its number. With HOMENODE_REACHED=FILE the numbers of all that were asked for
// are written there at the end of the process.
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace homenode {

struct Mutants {
  static constexpr unsigned most = 4096;
  unsigned on = std::getenv("HOMENODE_MUTANT") != nullptr ? static_cast<unsigned>(std::atoi(std::getenv("HOMENODE_MUTANT"))) : most;
  const char* file = std::getenv("HOMENODE_REACHED");
  std::atomic<bool> reached[most] = {};
  ~Mutants() {
    std::FILE* out = file != nullptr ? std::fopen(file, "w") : nullptr;
    if (out == nullptr) return;
    for (unsigned n = 0; n < most; ++n)
      if (reached[n]) std::fprintf(out, "%u\n", n);
    std::fclose(out);
  }
};

inline bool mutant(unsigned number) {
  static Mutants mutants;
  if (mutants.file != nullptr) mutants.reached[number].store(true, std::memory_order_relaxed);
  return mutants.on == number;
}

}  // namespace homenode
