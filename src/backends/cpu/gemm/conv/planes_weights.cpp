// Packing weights for convolutions over planes, and back.
#include "backends/cpu/gemm/conv/planes_weights.h"

#include "backends/cpu/gemm/f32/gemm_f32.h"

namespace tenfold::backends::cpu {
namespace {

// Calls f(packed element, element of the weight).
template <class F>
void for_each_weight(const ConvShape& s, F&& f) {
  std::int64_t packed = 0;
  const std::int64_t steps = planes_steps(s);
  for (std::int64_t group = 0; group < s.groups; ++group)
    for (std::int64_t block = 0; block < planes_blocks(s); ++block)
      for (std::int64_t step = 0; step < steps; ++step)
        for (std::int64_t filter = planes_block_begin(s, block); filter < planes_block_begin(s, block + 1); ++filter)
          f(packed++, (group * s.width + filter) * steps + step);
}

}  // namespace

const PlanesF32Kernels& planes_kernels(std::int64_t isa) {
  return isa == kGemmAvx512 ? tenfold_planes_f32_avx512 : tenfold_planes_f32_avx2;
}

std::int64_t planes_packed_bytes(const Problem& p, const Config&, int input) {
  return input == 1 ? element_count(ir::constants(p.in[1].dims)) * 4 : -1;
}

void planes_pack(const Problem& p, const Config&, int, std::span<const Tensor* const> constants, void* packed) {
  const float* from = constants[1]->data<float>();
  for_each_weight(ConvShape(p), [&](std::int64_t a, std::int64_t b) { static_cast<float*>(packed)[a] = from[b]; });
}

Tensor planes_unpack(const Problem& p, const Config&, int, const void* packed) {
  Tensor weight(DType::f32, ir::constants(p.in[1].dims));
  float* to = weight.mutable_data<float>();
  for_each_weight(ConvShape(p), [&](std::int64_t a, std::int64_t b) { to[b] = static_cast<const float*>(packed)[a]; });
  return weight;
}

}  // namespace tenfold::backends::cpu
