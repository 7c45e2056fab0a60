// What attention kernels begin with: a problem's constants, and what they are given.
#include "backends/cuda/codegen/attention/attention.h"
#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

constexpr const char* kArguments = R"(
struct Arguments {
  const T *q, *k, *v; const MASK* mask; RESULT* y;
  i64 queries, keys, group, heads, batches, qs[3], ks[3], vs[3], ys[3], ms[4];
  const int* offsets; i64 longest; u32* bad_index;
};
// The rows of a block's sentence, or of its batch.
struct Rows { i64 begin; int queries, keys; };
#if PACKED
// Offsets that do not rise from 0 to the rows there are, by no more than the longest sentence, fail the run; their sentence is empty.
__device__ __forceinline__ Rows rows_of(const Arguments& a, i64 batch) {
  const i64 begin = a.offsets[batch], rows = a.offsets[batch + 1] - begin;
  const bool good = (batch > 0 || begin == 0) && begin >= 0 && rows >= 0 && rows <= a.longest && begin + rows <= a.queries;
  if (good) return {begin, (int)rows, (int)rows};
  if (threadIdx.x == 0) *a.bad_index = 1;
  return {0, 0, 0};
}
// Zeros behind the last sentence, by the blocks of the batch after the last; true if this is one.
__device__ __forceinline__ bool clears_rest(const Arguments& a) {
  if (blockIdx.z != a.batches) return false;
  for (i64 row = max((i64)a.offsets[a.batches], (i64)0) + blockIdx.x; row < a.queries; row += gridDim.x)
    for (int d = threadIdx.x; d < REAL_VALUE; d += blockDim.x) a.y[blockIdx.y * a.ys[1] + row * a.ys[2] + d] = (RESULT)0;
  return true;
}
#else
__device__ __forceinline__ Rows rows_of(const Arguments& a, i64) { return {0, (int)a.queries, (int)a.keys}; }
__device__ __forceinline__ bool clears_rest(const Arguments&) { return false; }
#endif
)";

// Keys whose scores are in registers at a time where blocks stay: they divide all keys and are a multiple of 16.
std::int64_t attention_part(const AttentionProblem& p) {
  const int most = p.row_blocks == 1 ? 128 : 64;
  for (int parts = p.whole > 64 ? 2 : 1; parts <= p.whole / 16; ++parts)
    if (p.whole % (16 * parts) == 0 && p.whole / parts <= most) return p.whole / parts;
  return 16;
}

std::string definitions(const AttentionProblem& p) {
  std::string head;
  const auto define = [&](const char* name, const auto& value) { head += cat("#define ", name, " ", value, "\n"); };
  const auto up = [](std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; };
  define("T", storage_type(p.dtype)), define("RESULT", storage_type(p.out)), define("MASK", storage_type(p.mask)),
      define("LOAD(x)", loaded(p.dtype, "(x)"));
  define("STORE(x)", stored(p.out, "(x)")), define("LOAD_MASK(x)", loaded(p.mask, "(x)"));
  define("MMA_TYPE", p.dtype == DType::bf16 ? "\"bf16\"" : "\"f16\"");
  define("REAL_SIZE", p.size), define("REAL_VALUE", p.value_size), define("SIZE", up(p.size, 16)), define("VALUE", up(p.value_size, 8));
  define("VALUE_STORED", up(p.value_size, 8)), define("MASK_TILES", p.mask_tiles ? 1 : 0);
  define("TF32", p.dtype == DType::f32 ? 1 : 0), define("DEPTH", 256 / bits(p.dtype));  // elements along k of one product
  define("KEYS", p.whole > 0 ? p.whole : kAttentionKeys), define("MASK_ROW", p.mask_row ? 1 : 0), define("EXACTLY", p.exactly ? 1 : 0);
  define("BF16", p.dtype == DType::bf16 ? 1 : 0), define("ONES", p.dtype == DType::bf16 ? "0x3f803f80" : "0x3c003c00");
  define("BOUNDS", cat("32 * WARPS", p.blocks > 0 ? cat(", ", p.blocks) : ""));
  define("PART", attention_part(p)), define("ROW_BLOCKS", p.row_blocks);
  define("WARPS", p.warps), define("THREADS", kSimpleThreads);
  define("SCALE", cat("(float)", p.scale)), define("CAUSAL", p.causal ? "true" : "false"), define("MASKED", p.masked ? 1 : 0);
  define("PACKED", p.packed ? 1 : 0);
  return head;
}

}  // namespace

std::string attention_head(const AttentionProblem& p) { return cat(definitions(p), kArguments); }

}  // namespace tenfold::backends::cuda
