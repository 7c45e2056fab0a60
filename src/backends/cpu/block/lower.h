// A Body lowered to the block executor's operations: what lower(), recognize() and fuse_pairs() read and rewrite before the
// program is laid out in scratch. Values are numbered: the body's inputs first, then items in order.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/cpu/kernels/region/pointwise.h"
#include "ir/body.h"

namespace tenfold::backends::cpu {

struct PointwiseTables {
  const PointwiseF32Kernels* f32;
  const PointwiseLaneKernels* lane;
  const PointwiseCastKernels* cast;
  const PointwiseRowKernels* row;
  const PointwiseQuantizeKernels* quantize;
  PointwiseKernel f32_to_bf16, round_to_bf16;
  const PointwiseBf16Kernels* bf16;  // null: the CPU does not round to bf16 by itself
  static PointwiseTables of(std::uint32_t features);
};

struct Item {
  Op op = Op::constant;
  LaneType lane = LaneType::f32;  // of the operands, or of the result where there is one kernel for all (select)
  int bytes = 4;                  // of one element of the result
  int arity = 0;
  int in[3] = {};
  PointwiseKernel kernel = nullptr;
  PointwiseReduce reduce = nullptr;
  double value = 0;        // of a constant
  std::uint64_t bits = 0;  // of a constant, as its lane holds it
  bool rounded = false;    // an f16 or bf16 rounding follows, so that it must not be fused over
  bool half = false;       // the body has it in f16 or bf16: constants near it were rounded
  bool is_constant() const { return op == Op::constant; }
};

struct Lowered {
  std::vector<int> input_bytes;
  std::vector<Item> items;
  std::vector<int> outputs;  // value numbers
  std::vector<int> output_bytes;
  int inputs() const { return static_cast<int>(input_bytes.size()); }
  bool is_input(int v) const { return v < inputs(); }
  Item& item(int v) { return items[static_cast<std::size_t>(v - inputs())]; }
  const Item& item(int v) const { return items[static_cast<std::size_t>(v - inputs())]; }
  bool is_constant(int v) const { return !is_input(v) && item(v).is_constant(); }
  std::vector<int> use_counts() const;  // by value; outputs count
  void sweep();                         // drops items that nothing needs
};

// Why a body cannot be lowered; empty: it can.
std::string why_not(const ir::Body& body);
// `first_wide`: input 0, an f16 or bf16 to the body, comes as f32.
Lowered lower(const ir::Body& body, const PointwiseTables& tables, bool first_wide = false);
// Replaces subtrees that compute GELU or SiLU of one value, however they are written, by one operation: they are recognized by
// their values at sample points, so no spelling has to be listed.
void recognize(Lowered& program, const PointwiseTables& tables);
// Joins neighbors for which there is a combined loop: products with sums, conversions with scales, sums with ReLU, small powers.
void fuse_pairs(Lowered& program, const PointwiseTables& tables);
// Joins what QuantizeLinear is made of where scale and zero point are constant.
void fuse_quantize(Lowered& program, const PointwiseTables& tables);
// Activations that end as bf16 are computed to its precision, and read bf16 where it comes from.
void fuse_bf16(Lowered& program, const PointwiseTables& tables);

}  // namespace tenfold::backends::cpu
