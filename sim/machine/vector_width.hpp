// How wide the vectors are that code computes on, as far as a core's clock depends on it. Which instructions count: the rule is in
// models/core/vector_clock.hpp; from which share of them on: in sim/program/code_cycles.hpp.
#pragma once

#include <cstdint>

namespace homenode {

// 256: heavy instructions on 256 bits, or any on 512; 512: heavy ones on 512 bits. Heavy: floating point and integer multiplication.
enum class VectorWidth : std::uint8_t { narrow, bits_256, bits_512 };

}  // namespace homenode
