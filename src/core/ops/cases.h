// Test problems of an operator as one line of text, and their random data.
//
// A case is operands, then attributes: "f32[2,8,16] i64[3]{0,2,1} _ axis=-1".
//   f32[2,8]            random values in [-1, 1] (integers in [-8, 8], unsigned in [0, 15], booleans, words of a, b and c)
//   f32[2,8](0.5,2)     random values in that range, bounds included for integers
//   i64[3]{0,2,1}       these values (also for a scalar: f32[]{0.5}); a literal operand is a constant in the graph
//   f32[8]!             a random constant
//   _                   an optional operand left out
//   numerics={round_to=tf32}   what the computation may round (ir/numerics.h); winograd=0 and the like withhold what builds allow
//   outputs=2           how many outputs to ask for (default: the operator's least number)
// Data depends only on the case's text and the seed.
#pragma once

#include <string_view>
#include <vector>

#include "ir/op_def.h"

namespace tenfold::ops {

struct CaseOperand {
  bool missing = false, constant = false;
  Tensor data;
};
struct Case {
  std::vector<CaseOperand> operands;
  ir::Attributes attributes;
  ir::Numerics numerics = {.winograd = true, .strassen = true, .fast_exp = true};   // as in builds without flags
  int outputs = 1;
};
Case parse_case(const ir::OpDef& op, std::string_view text, std::uint64_t seed = 1);
// A graph of that one node; operands that are not constant become inputs named "x0", "x1", ...; outputs "y0", ...
ir::Graph case_graph(const ir::Registry& registry, const ir::OpDef& op, const Case& c);
// Random data of a type, as described above.
Tensor random_tensor(DType dtype, const Shape& shape, std::uint64_t seed, double low, double high);
Tensor random_tensor(DType dtype, const Shape& shape, std::uint64_t seed);

}  // namespace tenfold::ops
