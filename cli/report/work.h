// What a step has to do, by its shapes alone: the FLOPs of its products, and the bytes that it has to read and write once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tenfold/tensor.h"

namespace tenfold::cli {

struct WorkOperand {
  DType dtype = DType::f32;
  std::optional<Shape> shape;  // nothing: it depends on data
  std::int64_t stored = -1;    // bytes of a constant as it is stored; -1: by shape
  bool present = true;         // false: an optional operand that is left out
};
struct WorkStep {
  std::string op, attributes;
  std::vector<WorkOperand> inputs, outputs;
};

std::optional<std::int64_t> bytes_of(const WorkOperand& operand);
// Nothing where a shape is not known. Operands that a step reads only in part (Gather, Slice) count by its results.
std::optional<std::int64_t> bytes_moved(const WorkStep& step);
// Of the direct algorithm, two for a multiply-add: matrix products, convolutions, attention, recurrent layers. 0: it has no products
// (what pointwise steps and norms compute costs less than what they move). Nothing where a shape is not known, and for operators whose
// products this does not count.
std::optional<std::int64_t> flops_of(const WorkStep& step);

}  // namespace tenfold::cli
