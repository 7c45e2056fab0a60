// What movement tactics share: they are strided copies between views of their operands.
#pragma once

#include "backends/cpu/block/strided_copy.h"
#include "backends/cpu/tactics/row_problem_common.h"

namespace tenfold::backends::cpu {

// Element sizes a strided copy moves, ranks it walks, no epilogue; any strides.
Verdict can_move(const Problem& p);
// Every operand of the output's rank in one layout: all plain, or all channels-last.
std::vector<Formats> same_layouts(const Problem& p);

struct MoveKernel {
  StridedCopy copy;
  ir::Ints numbers;  // of attributes: axis, perm ...
  int element_bytes() const { return copy.element_bytes; }
};
std::shared_ptr<MoveKernel> open_move(const Problem& p, ir::Ints numbers = {});
// An integer operand read at run time.
inline std::int64_t integer_at(const Bound& operand, DType type, std::int64_t i) {
  return type == DType::i64 ? operand.as<const std::int64_t>()[i] : operand.as<const std::int32_t>()[i];
}

}  // namespace tenfold::backends::cpu
