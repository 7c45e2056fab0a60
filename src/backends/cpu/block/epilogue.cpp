// Binds the operands of an epilogue to the rows and columns of an output and runs the body over tiles.
#include "backends/cpu/block/epilogue.h"

#include <algorithm>

#include "base/check.h"

namespace tenfold::backends::cpu {
namespace {

void merge(Walk::Axis* axes, int& count, std::int64_t extent, std::int64_t stride) {  // from the innermost axis outwards
  if (extent == 1) return;
  if (count > 0 && axes[count - 1].stride * axes[count - 1].extent == stride) {
    axes[count - 1].extent *= extent;
    return;
  }
  axes[count++] = {extent, stride};
}
std::int64_t offset(const Walk::Axis* axes, int count, std::int64_t index) {
  if (count == 0) return 0;
  std::int64_t sum = 0;
  for (int i = 0; i + 1 < count; ++i) {
    sum += index % axes[i].extent * axes[i].stride;
    index /= axes[i].extent;
  }
  return sum + index * axes[count - 1].stride;
}
// How many further indices stay on the innermost axis.
std::int64_t run_length(const Walk::Axis* axes, int count, std::int64_t index) {
  return count <= 1 ? INT64_MAX : axes[0].extent - index % axes[0].extent;
}

struct Position {
  void* data;
  std::int64_t row_stride, col_stride;
};
Position at(const Walk& walk, std::int64_t row, std::int64_t col) {
  const std::int64_t element = offset(walk.rows, walk.row_count, row) + offset(walk.cols, walk.col_count, col);
  return {walk.data + element * walk.element_bytes, walk.row_count ? walk.rows[0].stride : 0, walk.col_count ? walk.cols[0].stride : 0};
}

}  // namespace

TileAxes TileAxes::last(int rank) {
  TileAxes axes;
  for (int a = 0; a + 1 < rank; ++a) axes.rows[axes.row_count++] = static_cast<std::int8_t>(a);
  if (rank > 0) axes.cols[axes.col_count++] = static_cast<std::int8_t>(rank - 1);
  return axes;
}
TileAxes TileAxes::channels_last(int rank) {
  TileAxes axes;
  for (int a = 0; a < rank; ++a)
    if (a != 1) axes.rows[axes.row_count++] = static_cast<std::int8_t>(a);
  axes.cols[axes.col_count++] = 1;
  return axes;
}
TileAxes TileAxes::spatial(int rank) {
  TileAxes axes;
  for (int a = 0; a < rank; ++a) {
    if (a < 2)
      axes.rows[axes.row_count++] = static_cast<std::int8_t>(a);
    else
      axes.cols[axes.col_count++] = static_cast<std::int8_t>(a);
  }
  return axes;
}

Walk Walk::make(const Bound& of, DType dtype, const std::int64_t* dims, int rank, const TileAxes& axes) {
  Walk walk;
  walk.data = static_cast<char*>(of.data);
  walk.element_bytes = bits(dtype) / 8;
  const auto stride = [&](int axis) {
    const int own = axis - (rank - of.rank);
    return own < 0 || of.dims[own] == 1 ? 0 : of.strides[own];
  };
  for (int i = axes.row_count; i-- > 0;) merge(walk.rows, walk.row_count, dims[axes.rows[i]], stride(axes.rows[i]));
  for (int i = axes.col_count; i-- > 0;) merge(walk.cols, walk.col_count, dims[axes.cols[i]], stride(axes.cols[i]));
  return walk;
}

Verdict Epilogue::supports(const Problem& problem) {
  for (const OperandDesc& out : problem.out)
    if (out.dims.size() > kMaxRank) return Verdict::no(cat("an output of rank ", out.dims.size(), ", ", kMaxRank, " is possible"));
  if (!problem.body) return Verdict::ok();
  for (const ir::Instr& instr : problem.body->code)
    if (ir::is_reduction(instr.prim)) return Verdict::no("an epilogue with reductions");
  for (std::size_t i = static_cast<std::size_t>(problem.anchor_inputs); i < problem.in.size(); ++i)
    if (problem.in[i].missing) return Verdict::no("an epilogue operand is missing");
  return BlockExecutor::supports(*problem.body);
}

Epilogue::Epilogue(const Problem& problem, DType accumulator) {
  const std::uint32_t features = problem.device ? problem.device->features : 0;
  if (problem.body) {
    const DType first = problem.body->inputs[0];
    const bool first_wide = accumulator == DType::f32 && (first == DType::f16 || first == DType::bf16);
    executor_ = std::make_shared<BlockExecutor>(*problem.body, features, first_wide);
    anchor_inputs_ = problem.anchor_inputs;
    extra_ = static_cast<int>(problem.in.size()) - anchor_inputs_;
    check(extra_ + 1 == executor_->inputs() && (first == accumulator || first_wide), "the epilogue of ", problem.line(),
          " does not fit its operands");
  } else {
    ir::BodyBuilder convert({accumulator});
    executor_ = std::make_shared<BlockExecutor>(convert.finish({convert.cast(0, problem.out[0].dtype)}), features);
  }
  outputs_ = executor_->outputs();
  for (int i = 0; i < extra_; ++i) types_[i] = problem.in[static_cast<std::size_t>(anchor_inputs_ + i)].dtype;
  for (int i = 0; i < outputs_; ++i) types_[extra_ + i] = problem.out[static_cast<std::size_t>(i)].dtype;
}

void Epilogue::bind(const RunArgs& args, const TileAxes& axes, Binding& binding) const noexcept {
  const Bound& out = args.out[0];
  binding.simple = true;
  binding.rows = binding.cols = 1;
  for (int i = 0; i < axes.row_count; ++i) binding.rows *= out.dims[axes.rows[i]];
  for (int i = 0; i < axes.col_count; ++i) binding.cols *= out.dims[axes.cols[i]];
  for (int i = 0; i < extra_ + outputs_; ++i) {
    const Bound& operand =
        i < extra_ ? args.in[static_cast<std::size_t>(anchor_inputs_ + i)] : args.out[static_cast<std::size_t>(i - extra_)];
    binding.walk[i] = Walk::make(operand, types_[i], out.dims, out.rank, axes);
    binding.simple = binding.simple && binding.walk[i].simple();
  }
}

void Epilogue::apply(const Binding& binding, std::int64_t row0, std::int64_t rows, std::int64_t col0, std::int64_t cols,
                     const void* accumulators, std::int64_t accumulator_row_stride, void* scratch) const noexcept {
  TileOperand in[BlockExecutor::kMaxInputs];
  TileResult out[BlockExecutor::kMaxOutputs];
  const int walks = extra_ + outputs_;
  const std::int64_t bytes = 4;  // of an accumulator: f32 or i32
  for (std::int64_t r = row0, nr; r < row0 + rows; r += nr) {
    nr = row0 + rows - r;
    if (!binding.simple)
      for (int i = 0; i < walks; ++i) nr = std::min(nr, run_length(binding.walk[i].rows, binding.walk[i].row_count, r));
    for (std::int64_t c = col0, nc; c < col0 + cols; c += nc) {
      nc = col0 + cols - c;
      if (!binding.simple)
        for (int i = 0; i < walks; ++i) nc = std::min(nc, run_length(binding.walk[i].cols, binding.walk[i].col_count, c));
      in[0] = {static_cast<const char*>(accumulators) + ((r - row0) * accumulator_row_stride + c - col0) * bytes, accumulator_row_stride,
               1};
      for (int i = 0; i < extra_; ++i) {
        const Position p = at(binding.walk[i], r, c);
        in[i + 1] = {p.data, p.row_stride, p.col_stride};
      }
      for (int i = 0; i < outputs_; ++i) {
        const Position p = at(binding.walk[extra_ + i], r, c);
        out[i] = {p.data, p.row_stride, binding.cols == 1 ? 1 : p.col_stride};
      }
      executor_->run(nr, nc, {in, static_cast<std::size_t>(extra_ + 1)}, {out, static_cast<std::size_t>(outputs_)}, scratch);
    }
  }
}

}  // namespace tenfold::backends::cpu
