// cast_pixels_bf16: f32 planes of three channels to bf16 pixels, as images enter a network: apart, the conversion and the change of layout
// each went over all of memory.
#include "backends/cpu/cpu_info.h"
#include "backends/cpu/kernels/region/cast_pixels.h"
#include "backends/cpu/tactics/row_problem_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

Verdict supports(const Problem& p) {
  if (!has_bf16(p.device->features)) return Verdict::no("needs a CPU with bf16 arithmetic");
  if (Verdict v = no_epilogue(p); !v) return v;
  if (p.in[0].dtype != DType::f32 || p.out[0].dtype != DType::bf16) return Verdict::no("not from f32 to bf16");
  const ir::Dims& dims = p.in[0].dims;
  if (dims.size() < 3 || dims[1] != ir::Dim(3)) return Verdict::no("not three channels");
  if (!p.in[0].dense || !p.out[0].dense) return Verdict::no("an operand is strided");
  return Verdict::only_if(p.in[0].layout == kPlain && p.out[0].layout == kChannelsLast, "not from NCHW to NHWC");
}
std::vector<Formats> formats(const Problem&) { return {{{kPlain}, {kChannelsLast}}}; }
std::shared_ptr<const void> open(const Problem&, const Config&, Opening&) { return std::make_shared<int>(0); }

Status::Code run(const void*, const RunArgs& args) noexcept {
  const Bound& x = args.in[0];
  const int64_t plane = product(x.dims, 2, x.rank);
  constexpr int64_t kPart = 16 << 10;  // pixels; a whole number of the kernel's steps
  const int64_t pieces = (plane + kPart - 1) / kPart;
  args.parallel->for_each(x.dims[0] * pieces, [&](int64_t part, int) noexcept {
    const int64_t image = part / pieces, first = part % pieces * kPart;
    tenfold_cast_pixels_avx512bf16(x.as<const float>() + image * 3 * plane + first, plane, std::min(kPart, plane - first),
                            args.out[0].as<std::uint16_t>() + (image * plane + first) * 3);
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_cast_pixels_bf16() {
  return {.name = "cast_pixels_bf16",
          .ops = {"Cast"},
          .supports = supports,
          .configs = one_config,
          .formats = formats,
          .open = open,
          .run = run};
}

}  // namespace tenfold::backends
