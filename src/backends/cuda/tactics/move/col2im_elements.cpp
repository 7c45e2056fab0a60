// col2im_elements: Col2Im, a thread for each pixel, which sums up the columns that hold it; the kernel reads the block's extents.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

constexpr const char* kRule = R"(
RULE(element) {
  const i64 strides[] = {STRIDES}, dilations[] = {DILATIONS}, pads[] = {PADS};
  constexpr int kDims = RANKY0 - 2;
  i64 at[8], block[kDims], columns[kDims], taps = 1;
  places<RANKY0>(a.out[0], i, at);
  #pragma unroll
  for (int d = 0; d < kDims; ++d) {
    block[d] = (i64)((const T2*)a.in[2].p)[d * a.in[2].s[0]];
    taps *= block[d];
    const i64 room = a.out[0].d[d + 2] + pads[d] + pads[d + kDims] - dilations[d] * (block[d] - 1) - 1;
    columns[d] = room < 0 ? 0 : room / strides[d] + 1;
  }
  const T0* x = (const T0*)a.in[0].p + at[0] * a.in[0].s[0];
  float sum = 0.f;
  for (i64 k = 0; k < taps; ++k) {
    i64 rest = k, column = 0, step = 1;
    bool there = true;
    #pragma unroll
    for (int d = kDims - 1; d >= 0; --d) {
      const i64 from = at[d + 2] + pads[d] - rest % block[d] * dilations[d], place = from / strides[d];
      there = there && from >= 0 && from % strides[d] == 0 && place < columns[d];
      column += place * step;
      step *= columns[d];
      rest /= block[d];
    }
    if (there && column < a.in[0].d[2]) sum += LOAD0(x[(at[1] * taps + k) * a.in[0].s[1] + column * a.in[0].s[2]]);
  }
  ((TY0*)a.out[0].p)[offset<RANKY0>(a.out[0], at)] = STOREY0(sum);
}
)";

Verdict supports(const Problem& p) {
  if (!is_short_float(p.in[0].dtype)) return Verdict::no(cat("elements are ", name(p.in[0].dtype)));
  if (!is_index(p.in[2].dtype)) return Verdict::no("the block's extents are not i32 or i64");
  if (!p.in[1].constant || !p.in[2].constant) return Verdict::no("image or block are data, and the columns may not suit them");
  return can_generate_threads(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  const std::string head = window_defines(p);
  return std::make_shared<OpenThreads>(p, opening, head, kRule);
}

}  // namespace

Tactic cuda_col2im_elements() {
  return {.name = "col2im_elements",
          .ops = {"Col2Im"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each};
}

}  // namespace tenfold::backends
