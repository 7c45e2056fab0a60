// masked_mean_rows: MaskedMean of f32 or bf16 vectors, a mean for each part; tokens pass once, their sums stay in cache.
#include <algorithm>
#include <cmath>

#include "backends/cpu/tactics/movement_common.h"
#include "backends/cpu/tactics/row_floats_common.h"
#include "base/types/element.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

bool has_offsets(const Problem& p) { return p.in.size() > 2 && !p.in[2].missing; }

Verdict supports(const Problem& p) {
  if (Verdict v = no_epilogue(p); !v) return v;
  if (!RowFloats::has(p.in[0].dtype) || !RowFloats::has(p.out[0].dtype)) return Verdict::no("vectors are neither f32 nor bf16");
  if (bits(p.in[1].dtype) < 8 || p.in[1].dtype == DType::string) return Verdict::no("the mask's elements are no bytes");
  if (has_offsets(p) && p.in[2].dtype != DType::i32) return Verdict::no("offsets are not i32");
  return dense_plain(p);
}

struct Kernel {
  RowFloats rows, out;
  DType mask;
  float min_weight, min_length;
  bool normalize, packed;
};
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  return std::make_shared<Kernel>(Kernel{RowFloats(p, p.in[0].dtype), RowFloats(p, p.out[0].dtype), p.in[1].dtype,
                                         p.attributes->number("least"), p.attributes->number("min_length"),
                                         p.attributes->integer("normalize") != 0, has_offsets(p)});
}

// Of vectors that are not f32: one of them, and their sum.
ir::Dim worker_scratch(const Problem& p, const Config&) {
  return p.in[0].dtype == DType::f32 && p.out[0].dtype == DType::f32 ? ir::Dim(0) : p.in[0].dims.back() * ir::Dim(8);
}

// The mean of rows [first, last). `memory`: of one vector, if they are not f32.
void mean_of(const Kernel& kernel, const void* x, const void* mask, int64_t first, int64_t last, int64_t length, float* y, float* memory) {
  std::fill_n(y, length, 0.f);
  double weights = 0;
  for (int64_t row = first; row < last; ++row) {
    const double weight = load_double(kernel.mask, mask, row);
    weights += weight;
    const float factor = static_cast<float>(weight);
    const float* from = kernel.rows.read(x, row * length, length, memory);
    for (int64_t i = 0; i < length; ++i) y[i] += factor * from[i];
  }
  const float count = std::max(static_cast<float>(weights), kernel.min_weight);
  double squares = 0;
  for (int64_t i = 0; i < length; ++i) {
    y[i] /= count;
    squares += static_cast<double>(y[i]) * static_cast<double>(y[i]);
  }
  if (!kernel.normalize) return;
  const float by = std::max(static_cast<float>(std::sqrt(squares)), kernel.min_length);
  for (int64_t i = 0; i < length; ++i) y[i] /= by;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const Bound &x = args.in[0], &out = args.out[0];
  const int64_t means = out.dims[0], length = out.dims[1], tokens = x.dims[1];
  const auto* offsets = kernel.packed ? args.in[2].as<const std::int32_t>() : nullptr;
  for (int64_t i = 0; offsets && i < means; ++i)
    if (offsets[i] < 0 || offsets[i] > offsets[i + 1] || offsets[i + 1] > tokens) return Status::bad_index;
  args.parallel->for_each(means, [&](int64_t i, int worker) {
    const int64_t first = offsets ? offsets[i] : i * tokens, last = offsets ? offsets[i + 1] : first + tokens;
    float* const memory = args.scratch_of<float>(worker);
    float* const y = kernel.out.place(out.data, i * length, memory + length);
    mean_of(kernel, x.data, args.in[1].data, first, last, length, y, memory);
    kernel.out.done(out.data, i * length, length, y);
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_masked_mean_rows() {
  return {.name = "masked_mean_rows",
          .ops = {"MaskedMean"},
          .supports = supports,
          .configs = one_config,
          .worker_scratch = worker_scratch,
          .open = open,
          .run = run};
}

}  // namespace tenfold::backends
