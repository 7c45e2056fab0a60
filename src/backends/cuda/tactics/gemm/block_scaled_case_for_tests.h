// One kernel of block_scaled_*.cu for one problem, in the namespace CASE: block_scaled_kernels_test.cpp includes this once for each, behind
//   SPEC  FEW, MANY or EACH, type of activations, bits of weights, whether these are signed, whether there are zero points
//   SIZE  N, K, BLOCK
//   TILE  ROW_TILES, PANELS, WARPS, and of MANY STAGES and VECTORS; not of EACH
//   NORM  of FEW, where it is 1
#define FIRST(...) FIRST_OF(__VA_ARGS__)
#define FIRST_OF(a, ...) a
#define SECOND(...) SECOND_OF(__VA_ARGS__)
#define SECOND_OF(a, b, ...) b
#define THIRD(...) THIRD_OF(__VA_ARGS__)
#define THIRD_OF(a, b, c, ...) c
#define FOURTH(...) FOURTH_OF(__VA_ARGS__)
#define FOURTH_OF(a, b, c, d, ...) d
#define FIFTH(...) FIFTH_OF(__VA_ARGS__)
#define FIFTH_OF(a, b, c, d, e, ...) e
#define JOINED_OF(a, b) a##_##b
#define JOINED(a, b) JOINED_OF(a, b)

#define BF16 (SECOND(SPEC) != HALF)
#define F32 (SECOND(SPEC) == SINGLE)
#define BITS THIRD(SPEC)
#define ZEROS FIFTH(SPEC)
#define ZERO (FOURTH(SPEC) ? 1 << (BITS - 1) : 0)
#define N FIRST(SIZE)
#define K SECOND(SIZE)
#define BLOCK THIRD(SIZE)
#define ROW_TILES FIRST(TILE)
#define PANELS SECOND(TILE)
#define WARPS THIRD(TILE)
#define vectors JOINED(CASE, vectors)   // names of kernels
#define singles JOINED(CASE, singles)
#define many JOINED(CASE, many)
#define elements JOINED(CASE, elements)
#if F32
#define IN float
#define LOAD(x) (x)
#define STORED(x) x
#else
#define IN u16
#define LOAD(x) (BF16 ? from_bf16(x) : from_f16(x))
#define STORED(x) (BF16 ? to_bf16(x) : to_f16(x))
#endif
#define OUT IN
#define EPILOGUE for (int v = 0; v < WIDTH; ++v) y[v] = STORED(sum[v]);
#if FIRST(SPEC) == FEW
#define WIDTH 1
#define __shared__ static
#ifndef NORM
#define NORM 0
#endif
#define EPSILON 0.25f
#define NORM_SCALE float
#define LOAD_SCALE(x) (x)
#elif FIRST(SPEC) == EACH
#define WIDTH 1
#define THREADS 64
#define __shared__
#else
#define STAGES FOURTH(TILE)
#define VECTORS FIFTH(TILE)
#define WIDTH (VECTORS ? 8 : 1)
#define __shared__
#endif

namespace tenfold::backends::CASE {

using namespace on_host;

inline void mma(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  Block::now()->multiply(c, a, b0, b1, BF16 ? from_bf16 : from_f16);
}
inline u32 masked_with(u32 a, u32 mask, u32 with) { return (a & mask) | with; }
inline u32 multiply_add_pairs(u32 a, u32 b, u32 c) { return exact_pairs(a, b, c, BF16); }
inline u32 pair(float low, float high) {   // of a norm's results, or of integers
#if FIRST(SPEC) == FEW && NORM
  return static_cast<u32>(BF16 ? to_bf16(low) : to_f16(low)) | static_cast<u32>(BF16 ? to_bf16(high) : to_f16(high)) << 16;
#else
  return exact_bf16(low) | static_cast<u32>(exact_bf16(high)) << 16;
#endif
}

#if FIRST(SPEC) == FEW
#include "backends/cuda/kernels/gemm/block_scaled_few.cu"
#elif FIRST(SPEC) == EACH
constexpr int kRows = 1, kColumns = THREADS, kThreads = THREADS;
#include "backends/cuda/kernels/gemm/block_scaled_elements.cu"
#else
u8 shared[96 << 10] __attribute__((aligned(128)));
#include "backends/cuda/kernels/gemm/block_scaled_many.cu"
#endif

const KernelCase kCase = {
    .name = TENFOLD_TEXT(CASE), .type = F32 ? DType::f32 : BF16 ? DType::bf16 : DType::f16,
    .weight = BITS == 4 ? (FOURTH(SPEC) ? DType::i4 : DType::u4) : FOURTH(SPEC) ? DType::i8 : DType::u8,
    .zeros = ZEROS != 0, .n = N, .k = K, .block = BLOCK,
#if FIRST(SPEC) == FEW
    .norm = NORM != 0, .few_tile = FewRowsTile{ROW_TILES, PANELS, WARPS}, .kernels = {singles, K % 4 == 0 ? vectors : nullptr},
#elif FIRST(SPEC) == EACH
    .kernels = {elements, nullptr},
#else
    .many_tile = ManyRowsTile{ROW_TILES, PANELS, WARPS, STAGES}, .by_vectors = VECTORS != 0, .kernels = {many, nullptr}, .shared = shared,
    .shared_bytes = STAGES * kStageBytes > kRows * kPitch * 4 ? STAGES * kStageBytes : kRows * kPitch * 4,
#endif
    .rows = kRows, .columns = kColumns, .threads = kThreads};

}  // namespace tenfold::backends::CASE

#undef CASE
#undef SPEC
#undef SIZE
#undef TILE
#undef BF16
#undef F32
#undef BITS
#undef ZEROS
#undef ZERO
#undef N
#undef K
#undef BLOCK
#undef ROW_TILES
#undef PANELS
#undef WARPS
#undef STAGES
#undef VECTORS
#undef WIDTH
#undef THREADS
#undef NORM
#undef EPSILON
#undef NORM_SCALE
#undef LOAD_SCALE
#undef IN
#undef LOAD
#undef OUT
#undef STORED
#undef EPILOGUE
#undef vectors
#undef singles
#undef many
#undef elements
#undef __shared__
