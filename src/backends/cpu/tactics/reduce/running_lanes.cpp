// running_lanes: CumSum and CumProd of f32, f64, i32 and i64 along any axis: an accumulator for each column of a strip.
#include <algorithm>
#include <type_traits>

#include "backends/cpu/kernels/reduce/running.h"
#include "backends/cpu/tactics/movement_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

constexpr int64_t kStrip = 256;   // columns whose accumulators lie on the stack

struct Kernel {
  const RunningKernels* kernels;
  bool product, exclusive, reverse, has_axis;
  int64_t axis;
  DType axis_type, type;
};
Verdict supports(const Problem& p) {
  if (Verdict v = needs_avx2(p); !v) return v;
  if (Verdict v = no_epilogue(p); !v) return v;
  const DType t = p.in[0].dtype;
  if (t != DType::f32 && t != DType::f64 && t != DType::i32 && t != DType::i64) return Verdict::no(cat("elements of type ", name(t)));
  if (p.in[0].dims.empty()) return Verdict::no("a scalar");
  if (p.in.size() > 1 && !p.in[1].missing && p.in[1].dtype != DType::i64 && p.in[1].dtype != DType::i32)
    return Verdict::no("the axis is not i32 or i64");
  return dense_plain(p);
}
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  const auto flag = [&](const char* name) { return p.attributes->integer(name) != 0; };
  const bool given = p.in.size() > 1 && !p.in[1].missing;
  return std::make_shared<Kernel>(Kernel{&pick(p, tenfold_running_avx2, tenfold_running_avx512), p.op->name == "CumProd", flag("exclusive"),
                                         flag("reverse"), given, p.attributes->integer("axis"), given ? p.in[1].dtype : DType::i64,
                                         p.in[0].dtype});
}

// Sums of floats are doubles, rounded where they are written; integers wrap around.
template <class T>
using Wide = std::conditional_t<std::is_floating_point_v<T>, double,
                                std::make_unsigned_t<std::conditional_t<std::is_integral_v<T>, T, int>>>;

template <bool kProduct, bool kExclusive, class T>
T next(Wide<T>& sum, T x) {
  const Wide<T> before = sum;
  sum = kProduct ? before * static_cast<Wide<T>>(x) : before + static_cast<Wide<T>>(x);
  return static_cast<T>(kExclusive ? before : sum);
}

template <bool kProduct, bool kExclusive, class T>
void strip(T* to, const T* from, int64_t step, int64_t extent, int64_t count) noexcept {
  Wide<T> sums[kStrip];
  std::fill(sums, sums + count, Wide<T>(kProduct));
  for (int64_t e = 0; e < extent; ++e, from += step, to += step)
    for (int64_t c = 0; c < count; ++c) to[c] = next<kProduct, kExclusive>(sums[c], from[c]);
}

template <class T>
void typed(const Kernel& kernel, const RunArgs& args, int axis) noexcept {
  const Bound& x = args.in[0];
  const int64_t outer = product(x.dims, 0, axis), extent = x.dims[axis], inner = product(x.dims, axis + 1, x.rank);
  if (outer * extent * inner == 0) return;
  const int64_t strips = ceil_div(inner, kStrip), start = kernel.reverse ? (extent - 1) * inner : 0, step = kernel.reverse ? -inner : inner;
  const auto run_strip = kernel.product ? (kernel.exclusive ? strip<true, true, T> : strip<true, false, T>)
                                        : (kernel.exclusive ? strip<false, true, T> : strip<false, false, T>);
  for_row_parts(*args.parallel, outer * strips, rows_per_part(extent * std::min(inner, kStrip)), [&](int64_t first, int64_t last, int) {
    for (int64_t part = first; part < last; ++part) {
      const int64_t column = part % strips * kStrip, at = part / strips * extent * inner + start + column;
      const int64_t count = std::min(kStrip, inner - column);
      T* const to = args.out[0].as<T>() + at;
      if constexpr (std::is_same_v<T, float>)
        if (!kernel.product && count >= 16) {
          kernel.kernels->sum_columns(to, x.as<const T>() + at, step, extent, count, kernel.exclusive);
          continue;
        }
      run_strip(to, x.as<const T>() + at, step, extent, count);
    }
  });
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& kernel = *static_cast<const Kernel*>(self);
  const int rank = args.in[0].rank;
  if (kernel.has_axis && product(args.in[1].dims, 0, args.in[1].rank) != 1) return Status::invalid_shape;
  const int64_t requested = kernel.has_axis ? integer_at(args.in[1], kernel.axis_type, 0) : kernel.axis;
  if (requested < -rank || requested >= rank) return Status::invalid_input;
  const int axis = wrapped(requested, rank);
  switch (kernel.type) {
    case DType::f32: typed<float>(kernel, args, axis); break;
    case DType::f64: typed<double>(kernel, args, axis); break;
    case DType::i32: typed<std::int32_t>(kernel, args, axis); break;
    default: typed<int64_t>(kernel, args, axis);
  }
  return Status::ok;
}

}  // namespace

Tactic cpu_running_lanes() {
  return {.name = "running_lanes",
          .ops = {{"CumSum", "cum_sum_lanes"}, {"CumProd", "cum_prod_lanes"}},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .cases = {"CumSum f32[2,300,7] axis=1", "CumSum f32[40,300] i64[]{-1} exclusive=1", "CumSum i64[30,500] axis=0 reverse=1",
                    "CumProd f64[9,20] axis=1 exclusive=1 reverse=1", "CumSum i32[6,700] axis=1", "CumProd f32[2,5,300] axis=1",
                    "CumSum f32[300,200] axis=0 reverse=1", "CumProd i32[200,150] axis=0"}};
}

}  // namespace tenfold::backends
