// One block of a bf16 product: round the rows, then panel by panel over all of them.
#include "backends/cpu/gemm/gemm_bf16.h"

#include <cstring>

#include "base/half.h"

namespace tenfold::backends::cpu {

Verdict bf16_permitted(const Problem& p) {
  if (p.attributes->string("precision", "") != "bf16") return Verdict::no("bf16 is not permitted here");
  return Verdict::only_if((p.device->features & kAmxBf16) != 0, "this machine has no AMX");
}

std::uint16_t round_to_bf16(float value) { return float_to_bf16(value); }

Tensor unpack_bf16(const GemmBf16Weights& w, Shape shape, const void* packed) {
  Tensor original(DType::f32, std::move(shape));
  std::memcpy(original.mutable_raw(), static_cast<const std::uint16_t*>(packed) + w.values(), static_cast<std::size_t>(original.bytes()));
  return original;
}

void gemm_bf16_block(const GemmBf16Weights& w, const void* packed, const GemmBf16Block& block, std::uint16_t* rows, const F32End& end,
                     const F32End::Binding& bound, void* scratch) noexcept {
  if (block.rows <= 0) return;
  const GemmBf16Kernels& kernels = gemm_bf16_kernels();
  const std::int64_t depth = w.depth(), stride = depth + 32, values = w.taps * w.k;
  const float* const* entry = block.table;
  for (std::int64_t r = 0; r < block.rows; ++r) {
    std::uint16_t* row = rows + r * stride;
    for (std::int64_t tap = 0; tap < w.taps; ++tap, ++entry) kernels.convert(*entry + block.offset, w.k, row + tap * w.k);
    std::memset(row + values, 0, static_cast<std::size_t>(depth - values) * 2);
  }
  kernels.enter();
  GemmBf16Tile t;
  t.a_stride = stride;
  t.depth = depth;
  t.c_stride = block.c_stride;
  for (std::int64_t panel = block.first_panel; panel < block.last_panel; ++panel) {
    const std::int64_t column = block.column + panel * 32;
    t.panel = static_cast<const std::uint16_t*>(packed) + panel * 32 * depth;
    t.cols = static_cast<int>(std::min<std::int64_t>(32, w.n - panel * 32));
    for (std::int64_t r = 0; r < block.rows; r += 32) {
      const GemmF32Finish finish = bound.at(block.row + r, column);
      t.finish = bound.any ? &finish : nullptr;
      t.rows = static_cast<int>(std::min<std::int64_t>(32, block.rows - r));
      t.a = rows + r * stride;
      t.c = block.c + (block.row + r) * block.c_stride + column;
      kernels.tile(t);
    }
  }
  kernels.leave();
  if (end.in_registers()) return;
  const std::int64_t first = block.first_panel * 32, last = std::min(w.n, block.last_panel * 32);
  end.apply(bound, block.row, block.rows, block.column + first, last - first, block.c + block.row * block.c_stride + block.column + first,
            block.c_stride, scratch);
}

}  // namespace tenfold::backends::cpu
