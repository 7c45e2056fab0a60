// Fused attention of one head: a range of query rows against all keys, scores kept in scratch a block at a time.
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {

struct AttentionHead {
  const void *q, *k, *v, *mask;  // mask may be null: added to the scaled scores
  void* out;
  std::int64_t q_row, k_row, v_row, out_row;  // elements between rows; within a row they are contiguous
  std::int64_t mask_row, mask_col;            // 0 broadcasts; mask_col is 0 or 1
  std::int64_t rows, keys, size, value_size;  // query rows of this call, keys, head size of q and k, head size of v
  std::int64_t first_row;                     // the first query row's number, for causal
  std::int64_t causal_shift;                  // row i sees keys up to i + causal_shift; any large number: all
  float scale;
  float hidden_row;                           // what a row gives that sees no key: 0 or NaN
  bool narrow, narrow_mask;                   // q, k, v and out are bf16, mask is; else f32
  const float *k_scale, *v_scale;             // not null: k and v are int8, and each row has a scale, behind that of the row before
};

struct AttentionKernels {
  std::int64_t max_rows;                                                      // of one call
  std::int64_t (*scratch_bytes)(std::int64_t size, std::int64_t value_size);  // 64-byte aligned
  void (*head)(const AttentionHead& a, void* scratch);
};

extern "C" {
extern const AttentionKernels tenfold_attention_avx2, tenfold_attention_avx512;  // all of f32
extern const AttentionKernels tenfold_attention_rows_avx2, tenfold_attention_rows_avx512;  // the same of few rows: keys stay as they lie
extern const AttentionKernels tenfold_attention_amx;                             // products of bf16, sums of f32
extern const AttentionKernels tenfold_attention_split_amx;                       // all of f32, in products of two terms of bf16
}

}  // namespace tenfold::backends::cpu
