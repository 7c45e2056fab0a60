// Elements: the elements that one value of a Body takes while it is interpreted, and the meaning of each primitive on them.
#pragma once

#include <vector>

#include "ir/body.h"

namespace tenfold::ops {

// Floats are held as doubles, integers and booleans as int64 (u64 by its bits). A narrow value has one element for the whole row.
struct Elements {
  DType dtype = DType::f32;
  bool narrow = false;
  std::vector<double> real;
  std::vector<std::int64_t> whole;

  bool is_real() const { return is_float(dtype); }
  double real_at(std::int64_t i) const { return real[narrow ? 0 : static_cast<std::size_t>(i)]; }
  std::int64_t whole_at(std::int64_t i) const { return whole[narrow ? 0 : static_cast<std::size_t>(i)]; }
  void resize(std::int64_t count) {
    const auto n = static_cast<std::size_t>(narrow ? 1 : count);
    is_real() ? real.resize(n) : whole.resize(n);
  }
};

// Computes one instruction over `count` elements; operands that its arity does not use may be any value.
void apply(const ir::Instr& instr, const Elements& a, const Elements& b, const Elements& c, Elements& result, std::int64_t count);

// Nearest value that the type holds.
double round_to(DType dtype, double value);
// The value modulo 2^bits of the type; booleans are 0 or 1.
std::int64_t wrap_to(DType dtype, std::int64_t value);

}  // namespace tenfold::ops
