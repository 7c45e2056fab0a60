// The texts of attention kernels for tensor cores.
#include "backends/cuda/codegen/attention/attention.h"

#include "backends/cuda/codegen/kernel_text.h"

namespace tenfold::backends::cuda {

int attention_shared_bytes(const AttentionProblem& p) {
  const auto up = [](std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; };
  if (p.whole > 0) {  // keys, queries and values of one head, and the mask's row; twice where blocks stay
    const std::int64_t queries = 16 * p.row_blocks * p.warps, row = up(p.size, 16) + 8, value_row = up(p.value_size, 16) + 8;
    return static_cast<int>((p.blocks > 0 ? 2 : 1) * (2 * (row * (p.whole + queries) + value_row * p.whole) + 4 * p.whole));
  }
  const std::int64_t bytes = bits(p.dtype) / 8, piece = 16 / bytes;
  const std::int64_t size_pitch = p.padded_size() + piece, value_pitch = p.padded_value() + piece;
  const std::int64_t queries = 16 * p.warps;
  const std::int64_t stage = kAttentionKeys * (size_pitch + value_pitch) + (p.mask_tiles ? queries * (kAttentionKeys + 8) : 0);
  return static_cast<int>(bytes * (2 * stage + queries * size_pitch));
}

std::string generate_attention_mma(const AttentionProblem& p) {
  KernelText text;
  define_attention(text, p);
  if (bits(p.dtype) == 8) text.declare(attention_epilogue(p));
  return text.of(p.blocks > 0  ? "attention/attention_stream.cu"
                 : p.whole > 0 ? "attention/attention_whole.cu"
                               : "attention/attention_mma.cu");
}

}  // namespace tenfold::backends::cuda
