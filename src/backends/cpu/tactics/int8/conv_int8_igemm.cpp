// Convolution of 8-bit images as a product whose rows are the windows of output positions.
#include <algorithm>

#include "backends/cpu/tactics/int8/conv_int8_windows_common.h"
#include "backends/packed_tactic.h"
#include "base/types/element.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

Int8Weights weights_of(const ConvInt8Shape& s, const Config& c) {
  const ConvInt8Lines lines(s, int8_kernels(c[0]), c[1]);
  return {.k = lines.count * lines.pitch, .n = s.filters / s.groups, .groups = s.groups};
}

Verdict supports(const Problem& p) {
  const Verdict verdict = conv_int8_supports(p);
  if (!verdict) return verdict;
  const ConvInt8Shape s(p);
  return Verdict::only_if(s.depth > 1 || s.filters > s.groups || s.groups == 1, "depthwise: N of each GEMM would be 1");
}

std::vector<Config> configs(const Problem& p) {
  const ConvInt8Shape s(p);
  return int8_configs(*p.device, conv_int8_likely_rows(p), s.filters / s.groups);
}
Verdict valid(const Problem& p, const Config& c) { return int8_valid(*p.device, c); }

std::int64_t packed_bytes(const Problem& p, const Config& c, int input) {
  return input == 1 ? Int8Packing(weights_of(ConvInt8Shape(p), c), int8_kernels(c[0])).bytes() : -1;
}

// Calls f(index in the ONNX weight, index in [groups][k][n]).
template <class F>
void for_each_weight(const ConvInt8Shape& s, const Config& config, F&& f) {
  const Int8Weights w = weights_of(s, config);
  const ConvInt8Lines lines(s, int8_kernels(config[0]), config[1]);
  constexpr std::int64_t kFilters = 64;   // whose cache lines all stay, for each holds several weights of its filter
  for (std::int64_t first = 0; first < s.filters; first += kFilters) {
    for (std::int64_t c = 0; c < s.depth; ++c) {
      for (std::int64_t t = 0; t < s.taps(); ++t) {
        const std::int64_t k = t / s.kernel[2] * lines.pitch + t % s.kernel[2] * s.depth + c;
        for (std::int64_t m = first; m < std::min(first + kFilters, s.filters); ++m)
          f((m * s.depth + c) * s.taps() + t, static_cast<std::size_t>((m / w.n * w.k + k) * w.n + m % w.n));
      }
    }
  }
}

void pack(const Problem& p, const Config& c, int, std::span<const Tensor* const> constants, void* packed) {
  const ConvInt8Shape s(p);
  const std::vector<std::int16_t> given = int8_values(*constants[1]);
  const Int8Weights w = weights_of(s, c);
  const std::vector<std::int32_t> zeros = conv_int8_zeros(p, constants);
  std::vector<std::int16_t> values;   // what fills up lines counts as zero
  for (std::int64_t g = 0; g < w.groups; ++g)
    for (std::int64_t k = 0; k < w.k; ++k) values.insert(values.end(), zeros.begin() + g * w.n, zeros.begin() + (g + 1) * w.n);
  for_each_weight(s, c, [&](std::int64_t from, std::size_t to) { values[to] = given[static_cast<std::size_t>(from)]; });
  Int8Packing(w, int8_kernels(c[0])).pack(values, zeros, packed);
}

Tensor unpack(const Problem& p, const Config& c, int, const void* packed) {
  const ConvInt8Shape s(p);
  const std::vector<std::int16_t> values = Int8Packing(weights_of(s, c), int8_kernels(c[0])).unpack(packed);
  Tensor weight(p.in[1].dtype, ir::constants(p.in[1].dims));
  for_each_weight(s, c, [&](std::int64_t to, std::size_t from) { store_int(weight.dtype(), weight.mutable_raw(), to, values[from]); });
  return weight;
}

struct Kernel {
  ConvInt8Shape shape;
  Int8Gemm product;
  DType x_type;
  bool has_zero;
};

Int8Gemm product(const Problem& p, const Config& c) {
  return Int8Gemm(p, c, weights_of(ConvInt8Shape(p), c), p.in[0].dtype == DType::i8, 1);
}

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  auto kernel = std::make_shared<Kernel>();
  kernel->shape = ConvInt8Shape(p);
  kernel->x_type = p.in[0].dtype;
  kernel->has_zero = int8_operand_given(p, 2);
  kernel->product = product(p, c);
  return kernel;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const ConvInt8Extents extents(args.in[0], args.out[0]);
  const std::int32_t zero = kernel.has_zero ? int8_zero_point(args, 2, kernel.x_type) : 0;
  const ConvInt8Windows rows(kernel.shape, extents, args.in[0].data, kernel.product.a_signed, zero, *kernel.product.kernels,
                             kernel.product.block_rows, args.parallel->workers());
  kernel.product.run(rows, extents.batch * extents.out_size(), zero, args, TileAxes::channels_last(args.out[0].rank));
  return Status::ok;
}

ir::Dim worker_scratch(const Problem& p, const Config& c) {
  const ConvInt8Shape s(p);
  const Int8Gemm made = product(p, c);
  return made.scratch_bytes() + (ConvInt8Laid::takes(s, *made.kernels, made.block_rows) ? ConvInt8Laid::bytes(s, made.block_rows) : 0);
}
ir::Dim workspace(const Problem& p, const Config& c) { return product(p, c).workspace_bytes(); }
bool may_alias(const Problem& p, int in, int) { return Int8Epilogue(p, int8_epilogue_kernels(kInt8Avx2), 1).in_place(in); }

}  // namespace

Tactic cpu_conv_int8_igemm() {
  return packed_tactic({.name = "conv_int8_igemm", .version = 9, .ops = {"ConvInteger"},
                        .formats = conv_int8_formats, .workspace = workspace, .worker_scratch = worker_scratch,
                        .may_alias = may_alias},
                       {supports, configs, valid, packed_bytes, pack, unpack, open, run, conv_int8_work});
}

}  // namespace tenfold::backends
