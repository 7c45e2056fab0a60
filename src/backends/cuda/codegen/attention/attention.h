// Attention kernels: the scores of a block of queries stay in registers, keys and values pass through shared memory or, where they
// are few, lie there as a whole.
#pragma once

#include <optional>
#include <string>

#include "backends/cuda/kernels/attention/attention_args.h"
#include "ir/body.h"
#include "tenfold/tensor.h"

namespace tenfold::backends::cuda {

class KernelText;

struct AttentionProblem {
  DType dtype = DType::f16, mask = DType::f16, out = DType::f16;
  std::optional<ir::Body> body;           // what becomes of each result; `out` has 8 bits then, or the operands are e4m3
  std::int64_t size = 0, value_size = 0;  // of a head
  double scale = 1, value_scale = 1;
  double cap = 0;           // above 0: a score becomes cap * tanh(score / cap) before the mask, in `attention_wgmma` and `attention_simple`
  bool causal = false, masked = false;
  bool zero_rows = false;   // a row from which the mask hides every key gives zeros; else NaN
  bool packed = false;      // a packed variable-length batch (cu_seqlens): each sequence attends to itself only
  bool mask_row = false;    // the mask is one row, the same for all queries
  int whole = 0;            // 0: keys pass in steps; else all of them, at most so many, a multiple of 16, are there at once
  bool exactly = false;     // and there are never fewer
  bool mask_tiles = false;  // the mask has 16 bits and a value for each key, side by side: it passes through shared memory too
  int warps = 4;            // of a block of `mma`: 16 queries each
  int row_blocks = 1;       // of 16 queries, that a warp has where blocks stay
  int blocks = 0;           // above 0: so many share a multiprocessor and stay, taking head after head; all keys are there at once
  // As products take them: a multiple of what they add up at once, and of their columns (of e4m3, two blocks of them).
  std::int64_t padded_size() const { return bits(dtype) == 8 ? (size + 31) / 32 * 32 : (size + 15) / 16 * 16; }
  std::int64_t padded_value() const { return bits(dtype) == 8 ? (value_size + 15) / 16 * 16 : (value_size + 7) / 8 * 8; }
};
inline constexpr int kAttentionKeys = 64;  // that pass through shared memory at a time
inline constexpr int kMaxWholeKeys = 256;
inline constexpr int kSimpleThreads = 128;

// Tensor cores: f16, bf16 and, keys in steps, f32 rounded to tf32 and e4m3; head sizes to 128. Exports `vectors`, for rows of Q, K, V and
// mask at multiples of 16 bytes and of the result at multiples of two elements (of e4m3 four), and `singles`;
// grid: blocks of queries, heads, batch.
int attention_shared_bytes(const AttentionProblem& p);
std::string generate_attention_mma(const AttentionProblem& p);
// `attention`: any float type, scores of one query in shared memory: for f32, and where nothing else runs. Grid: queries, heads, batch.
std::string generate_attention_simple(const AttentionProblem& p);
// `attention`: at most `rows` queries share a head of keys, whose keys `split` blocks share; from sm_90 on that may be more than one.
// Grid: `split`, heads of keys, batch; threads: 32 for each of `warps`.
struct SplitKv {
  std::int64_t rows = 1, queries = 0;   // of a head of queries; 0: as the run has it
  bool mask_shared = false;             // one row of the mask for all heads and queries
  int split = 1;
};
std::string generate_attention_split_kv(const AttentionProblem& p, const SplitKv& shape);

void define_attention(KernelText& text, const AttentionProblem& p);   // macros of all of them
// A function epilogue(x): what is stored of a result, before it is rounded to `out`.
std::string attention_epilogue(const AttentionProblem& p);

}  // namespace tenfold::backends::cuda
