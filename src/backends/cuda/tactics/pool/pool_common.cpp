// From pooling operators to what pooling kernels are to do.
#include "backends/cuda/tactics/pool/pool_common.h"

#include "base/check.h"
#include "ir/op_def.h"

namespace tenfold::backends::cuda {

Verdict pool_supports(const Problem& p) {
  if (p.body) return Verdict::no("no epilogue is possible");
  const DType t = p.in[0].dtype;
  const bool is_max = p.op->name == "MaxPool";
  if (t != DType::f32 && t != DType::f16 && t != DType::bf16 && !(is_max && (t == DType::u8 || t == DType::i8)))
    return Verdict::no(cat("elements are ", name(t)));
  if (p.out.size() > 1 && !p.out[1].missing) return Verdict::no("the indices are asked for");
  const std::size_t rank = p.in[0].dims.size();
  if (rank < 3 || rank > 5) return Verdict::no("not one to three spatial dims");
  if (p.attributes->string("auto_pad", "NOTSET") != "NOTSET") return Verdict::no("pads depend on the run's extents");
  const std::size_t n = rank - 2;
  const auto ok = [&](const char* which, std::size_t count, std::int64_t otherwise, std::int64_t min) {
    const ir::Ints values = p.attributes->ints(which, ir::Ints(count, otherwise));
    return values.size() == count && std::all_of(values.begin(), values.end(), [&](std::int64_t v) { return v >= min && v < 1 << 20; });
  };
  if (!p.attributes->has("kernel_shape") || !ok("kernel_shape", n, 1, 1) || !ok("strides", n, 1, 1) || !ok("dilations", n, 1, 1) ||
      !ok("pads", 2 * n, 0, 0))
    return Verdict::no("the window is of another rank or out of range");
  for (const OperandDesc* o : {&p.in[0], &p.out[0]})
    for (ir::Dim d : o->dims)
      if (p.bounds(d).upper >= std::int64_t{1} << 31) return Verdict::no("an extent is too large");
  return Verdict::ok();
}

int pool_channels_side_by_side(const Problem& p) {
  if (!p.in[0].dims[1].is_constant()) return 1;
  int width = 16 / (bits(p.in[0].dtype) / 8);
  while (p.in[0].dims[1].constant() % width != 0) width /= 2;
  for (const OperandDesc* o : {&p.in[0], &p.out[0]}) {
    if (o->layout != kChannelsLast) return 1;
    if (o->dense) continue;
    if (o->strides[1] != ir::Dim(1)) return 1;
    for (std::size_t d = 0; d < o->dims.size(); ++d)
      while (d != 1 && width > 1 && !o->strides[d].divisible_by(width)) width /= 2;
  }
  return width;
}

PoolProblem pool_problem(const Problem& p) {
  PoolProblem pool;
  pool.dtype = p.in[0].dtype;
  pool.is_max = p.op->name == "MaxPool";
  pool.count_pads = !pool.is_max && p.attributes->integer("count_include_pad", 0) != 0;
  const std::size_t n = p.in[0].dims.size() - 2;
  const ir::Ints ones(n, 1), kernel = p.attributes->ints("kernel_shape"), strides = p.attributes->ints("strides", ones),
                             dilations = p.attributes->ints("dilations", ones), pads = p.attributes->ints("pads", ir::Ints(2 * n, 0));
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = 3 - n + i;
    pool.kernel[at] = kernel[i], pool.stride[at] = strides[i], pool.dilation[at] = dilations[i], pool.begin[at] = pads[i],
    pool.end[at] = pads[n + i];
  }
  const ir::Dims& y = p.out[0].dims;
  if (y[1].is_constant()) pool.channels = y[1].constant();
  ir::Dim results = y[0] * y[1];
  for (std::size_t i = 0; i < 3; ++i) {
    const ir::Dim extent = i < 3 - n ? ir::Dim(1) : y[2 + i - (3 - n)];
    if (extent.is_constant()) pool.out[i] = extent.constant();
    results = results * extent;
  }
  pool.few = p.bounds(results).upper < std::int64_t{1} << 31;
  return pool;
}

PoolArguments pool_arguments(const RunArgs& args) noexcept {
  const Bound &x = args.in[0], &y = args.out[0];
  PoolArguments a{x.data, y.data, x.dims[0], x.dims[1], {1, 1, 1}, {1, 1, 1}, {x.strides[0], x.strides[1]}, {y.strides[0], y.strides[1]}};
  for (int d = 2; d < x.rank; ++d) {
    const int at = 3 - (x.rank - 2) + (d - 2);
    a.in[at] = x.dims[d], a.out[at] = y.dims[d], a.x_stride[2 + at] = x.strides[d], a.y_stride[2 + at] = y.strides[d];
  }
  return a;
}

}  // namespace tenfold::backends::cuda
