// The index space of a kernel: axes in the order threads walk them, with every operand's stride on each. Extents and strides
// that are known are printed as numbers, the others become arguments.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "backends/tactic.h"

namespace tenfold::backends::cuda {

struct IndexAxis {
  std::vector<int> source;  // which dims of the space it stands for, outermost first
  ir::Dim extent;
  std::vector<ir::Dim> strides;  // by operand; 0 where it is broadcast
};

// A number that only a run knows: extent or stride `operand` of an axis. operand < 0: the extent.
struct Argument {
  int axis = 0, operand = -1;
};

class IndexSpace {
 public:
  // Operands align to the right of `dims` and broadcast to it. Missing ones are left out.
  IndexSpace(const ir::Dims& dims, const std::vector<const OperandDesc*>& operands);
  // No, with the reason, if one extent may or may not be broadcast.
  const Verdict& verdict() const { return verdict_; }

  // Puts the axes into the order in which `operand` lies in memory, joins neighbors that every operand walks in one stride.
  void order_by(int operand);
  void merge();

  const std::vector<IndexAxis>& axes() const { return axes_; }
  const std::vector<Argument>& arguments() const { return arguments_; }
  // The largest power of two, up to `max`, by which the last axis can be cut for all operands: each walks it with stride 1 or
  // 0 or is read one by one, and all that are walked with stride 1 stay aligned.
  int vector_width(int max, const ir::SymbolBounds* box) const;
  bool fits_32_bits(const ir::SymbolBounds* box) const;

  // "4096" or "n[3]", which then is among the arguments.
  std::string extent_text(int axis);
  std::string stride_text(int axis, int operand);
  // Statements that set `c0`, `c1` ... (of type `type`) from the linear index `i`, which they use up; the last axis counts `width`
  // elements a step.
  std::string decode(const std::string& type, int width);
  // The element offset of an operand at c0, c1 ...; "0" if it is broadcast everywhere.
  std::string offset(int operand);
  // "a * b * c": how many elements there are.
  std::string count_text();

  // Values of the arguments for a run. `dims`: extents of the space; operands as they were given.
  void fill(const std::int64_t* dims, std::span<const Bound* const> operands, std::int64_t* values) const noexcept;

 private:
  std::string number(ir::Dim d, Argument argument);
  int rank_ = 0;
  std::vector<IndexAxis> axes_;
  std::vector<Argument> arguments_;
  std::vector<Layout> layouts_;
  Verdict verdict_;
};

}  // namespace tenfold::backends::cuda
