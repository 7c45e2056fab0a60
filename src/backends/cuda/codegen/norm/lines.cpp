// The macros of line kernels.
#include "backends/cuda/codegen/norm/lines.h"

#include <bit>

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {

std::string generate_lines(const LineProblem& p) {
  KernelText text;
  const auto define = [&](std::string_view name, const auto& value) { text.define(name, value); };
  define("KIND", static_cast<int>(p.kind)), define("HAS_BIAS", p.has_bias ? 1 : 0);
  define("IN", storage_type(p.in)), define("OUT", storage_type(p.out));
  define("SCALE", storage_type(p.scale)), define("BIAS", storage_type(p.bias));
  define("LOAD(r)", loaded(p.in, "(r)")), define("STORE(r)", stored(p.out, "(r)"));
  define("LOAD_SCALE(r)", loaded(p.scale, "(r)")), define("LOAD_BIAS(r)", loaded(p.bias, "(r)"));
  define("EPSILON", cat("__int_as_float(", std::bit_cast<std::int32_t>(static_cast<float>(p.epsilon)), ")"));
  if (p.kind == LineKind::group_norm_nhwc)
    define("AT(step)", "((u32)line % (u32)a.groups * (u32)a.per_group + (u32)k / (u32)a.spatial)");
  else
    define("AT(step)", "k * a.step");
  return text.of("norm/lines.cu");
}

}  // namespace tenfold::backends::cuda
