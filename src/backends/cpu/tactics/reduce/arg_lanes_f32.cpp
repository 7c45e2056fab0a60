// arg_lanes_f32: ArgMax and ArgMin of f32 along any axis, plain or channels-last: a lane for each result, or lanes along a long axis.
#include "backends/cpu/kernels/move/move.h"
#include "backends/cpu/kernels/reduce/arg.h"
#include "backends/cpu/tactics/row_problem_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

constexpr int64_t kMaxShortRow = 64, kTurned = 64;  // rows of so many elements are compared as columns
static_assert(kMaxShortRow >= kMinArgRow);

int axis_of(const Problem& p) { return wrapped(p.attributes->integer("axis"), static_cast<int>(p.in[0].dims.size())); }

Verdict supports(const Problem& p) {
  if (Verdict v = needs_avx2(p); !v) return v;
  if (Verdict v = no_epilogue(p); !v) return v;
  const OperandDesc& in = p.in[0];
  if (in.dtype != DType::f32) return Verdict::no(cat("elements of type ", name(in.dtype), ", f32 is needed"));
  if (!in.dense || !p.out[0].dense) return Verdict::no("an operand is strided");
  if (p.out[0].layout != kPlain && !same_as_plain(p.out[0].layout, p.out[0].dims)) return Verdict::no("the result is not plain");
  if (p.bounds(in.dims[static_cast<std::size_t>(axis_of(p))]).upper > INT32_MAX) return Verdict::no("the axis may be longer than 2^31 - 1");
  if (in.layout == kPlain || same_as_plain(in.layout, in.dims)) return Verdict::ok();
  return Verdict::only_if(in.layout == kChannelsLast && axis_of(p) == 1, "the input is not plain, nor channels-last with axis 1");
}

std::vector<Formats> formats(const Problem& p) {
  std::vector<Formats> all{{{kPlain}, {kPlain}}};
  if (p.in[0].dims.size() >= 3 && axis_of(p) == 1) all.push_back({{kChannelsLast}, {kPlain}});
  return all;
}

struct Kernel {
  const ArgKernels* kernels;
  const MoveKernels* moves;
  bool largest, last;
  int axis;
};
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  return std::make_shared<Kernel>(Kernel{&pick(p, tenfold_arg_avx2, tenfold_arg_avx512), &pick(p, tenfold_move_avx2, tenfold_move_avx512),
                                         p.op->name == "ArgMax", p.attributes->integer("select_last_index", 0) != 0, axis_of(p)});
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& kernel = *static_cast<const Kernel*>(self);
  const Bound& x = args.in[0];
  const float* from = x.as<const float>();
  auto* to = args.out[0].as<int64_t>();
  const int64_t outer = product(x.dims, 0, kernel.axis), extent = x.dims[kernel.axis], inner = product(x.dims, kernel.axis + 1, x.rank);
  if (outer * inner == 0) return Status::ok;
  if (extent == 0) return Status::invalid_shape;
  const auto columns = kernel.kernels->columns[kernel.largest][kernel.last], rows = kernel.kernels->rows[kernel.largest][kernel.last];
  if (inner == 1 || (extent > 1 && x.strides[kernel.axis] == 1)) {  // elements of a result lie side by side
    for_row_parts(*args.parallel, outer * inner, rows_per_part(extent), [&](int64_t first, int64_t last, int) {
      if (extent > kMaxShortRow) return rows(to + first, from + first * extent, extent, extent, last - first);
      alignas(64) float turned[kMaxShortRow * kTurned];
      for (int64_t count; first < last; first += count) {
        count = std::min(kTurned, last - first);
        kernel.moves->transpose[2](turned, kTurned, from + first * extent, extent, count, extent);
        columns(to + first, turned, kTurned, extent, count);
      }
    });
    return Status::ok;
  }
  constexpr int64_t kStrip = 1024;
  const int64_t strips = ceil_div(inner, kStrip);
  for_row_parts(*args.parallel, outer * strips, rows_per_part(extent * std::min(inner, kStrip)), [&](int64_t first, int64_t last, int) {
    for (int64_t part = first; part < last; ++part) {
      const int64_t column = part % strips * kStrip, o = part / strips;
      columns(to + o * inner + column, from + o * extent * inner + column, inner, extent, std::min(kStrip, inner - column));
    }
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_arg_lanes_f32() {
  return {.name = "arg_lanes_f32",
          .ops = {{"ArgMax", "arg_max_lanes"}, {"ArgMin", "arg_min_lanes"}},
          .supports = supports,
          .configs = one_config,
          .formats = formats,
          .open = open,
          .run = run,
          .cases = {"ArgMax f32[2,5,9,31] axis=1", "ArgMax f32[3,200] axis=1 select_last_index=1", "ArgMin f32[2,3,4,50] axis=1 keepdims=0",
                    "ArgMin f32[300,7] axis=-1", "ArgMax f32[2,70,3,2] axis=1 select_last_index=1", "ArgMax f32[1,3,40,41] axis=2",
                    "ArgMin f32[150,64] axis=1 select_last_index=1"}};
}

}  // namespace tenfold::backends
