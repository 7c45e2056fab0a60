// The macros of kernels/gemm/gemm_rows.cuh.
#include "backends/cuda/codegen/gemm/gemm_rows.h"

#include "backends/cuda/codegen/kernel_text.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

std::string listed(const std::vector<GemmProblem::Phase>& phases, std::int64_t GemmProblem::Phase::*member) {
  std::string text;
  for (const GemmProblem::Phase& phase : phases) text += cat(text.empty() ? "" : ", ", phase.*member);
  return text;
}

}  // namespace

void define_rows(KernelText& text, const GemmProblem& p) {
  text.define("ROW_KIND", p.has_phases() ? 3 : p.is_conv ? 2 : p.spreads ? 1 : 0);
  if (!p.is_conv && !p.spreads) return;
  text.define("C", p.channels);
  const char* axes[3] = {"Z", "Y", "X"};
  for (std::size_t d = 0; d < 3; ++d) {
    const auto axis = [&](const char* what, const auto& value) { text.define(cat(what, axes[d]), value); };
    axis("I", p.in_extent[d]), axis("O", p.out_extent[d]), axis("K", p.kernel[d]), axis("S", p.stride[d]), axis("D", p.dilation[d]),
        axis("B", p.begin[d]);
    if (!p.has_phases()) continue;
    axis("R", p.result_extent[d]), axis("RS", std::ssize(p.phases[d]));
    axis("TAPS", listed(p.phases[d], &GemmProblem::Phase::taps)), axis("BEGIN", listed(p.phases[d], &GemmProblem::Phase::begin));
  }
}

}  // namespace tenfold::backends::cuda
