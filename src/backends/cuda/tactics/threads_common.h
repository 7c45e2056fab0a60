// Loading and launching kernels with a thread for each element (codegen/threads.h).
#pragma once

#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/codegen/threads.h"
#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/elements_common.h"

namespace tenfold::backends::cuda {

class OpenThreads {
 public:
  // Of a file below kernels/; `functions`: its rules, or kernels kernel_NAME of its own.
  OpenThreads(const Problem& p, Opening& opening, std::string_view file, const KernelText& text = {},
              const std::vector<std::string>& functions = {"element"});
  // One thread for each of `count` elements; `blocks`: that many blocks, of a kernel that is no rule's.
  Status::Code run(const RunArgs& args, std::size_t function, std::int64_t count, std::int64_t blocks = -1) const noexcept;
  // One for each element of the first result.
  static Status::Code run_each(const void* self, const RunArgs& args) noexcept;
  Function function(std::size_t i) const { return functions_[i]; }

 private:
  std::shared_ptr<const LoadedModule> module_;
  std::vector<Function> functions_;
  std::size_t inputs_, outputs_;
  std::uint32_t given_ = 0, requested_ = 0;  // a bit for each operand
};

std::int64_t elements_of(const Bound& b) noexcept;
inline bool own(const Problem& p, std::size_t i) { return given(p, i) && static_cast<int>(i) < p.anchor_inputs; }
inline bool is_index(DType t) { return t == DType::i64 || t == DType::i32; }
inline bool is_short_float(DType t) { return t == DType::f32 || t == DType::f16 || t == DType::bf16; }  // computed as f32
// "2, 3": what an array begins with.
std::string listed(const ir::Ints& values);
// SUM: the type in which products of the first operand's elements are added up.
void define_sum(KernelText& text, const Problem& p);
// STRIDES, DILATIONS and PADS of a window over all dims of the result but two, whose pads are known.
void define_window(KernelText& text, const Problem& p);
Verdict pads_are_known(const Problem& p);
// Whether the result has the extents that the operator itself gives it: a thread's place in the one is that in the other.
Verdict keeps_extents(const Problem& p, const ir::Dims& own);
// The extents that a convolution gives its result; `transposed`: ConvTranspose. Its pads are known.
ir::Dims conv_extents(const Problem& p, bool transposed = false);
// The same of a product, whose operands are no scalars.
ir::Dims product_extents(const Problem& p);
// A float as CUDA C reads it back, bit for bit.
std::string exact(double value);

}  // namespace tenfold::backends::cuda
