// The macros of attention kernels: a problem's constants.
#include "backends/cuda/codegen/attention/attention.h"
#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

// Keys whose scores are in registers at a time where blocks stay: they divide all keys and are a multiple of 16.
std::int64_t attention_part(const AttentionProblem& p) {
  const int max = p.row_blocks == 1 ? 128 : 64;
  for (int parts = p.whole > 64 ? 2 : 1; parts <= p.whole / 16; ++parts)
    if (p.whole % (16 * parts) == 0 && p.whole / parts <= max) return p.whole / parts;
  return 16;
}

}  // namespace

void define_attention(KernelText& text, const AttentionProblem& p) {
  const auto define = [&](const char* name, const auto& value) { text.define(name, value); };
  define("T", storage_type(p.dtype)), define("RESULT", storage_type(p.out)), define("MASK", storage_type(p.mask)),
      define("LOAD(x)", loaded(p.dtype, "(x)"));
  define("STORE(x)", stored(p.out, "(x)")), define("LOAD_MASK(x)", loaded(p.mask, "(x)"));
  define("MMA_BITS", bits(p.dtype)), define("MMA_E4M3", p.dtype == DType::f8e4m3fn ? 1 : 0);
  define("REAL_SIZE", p.size), define("REAL_VALUE", p.value_size), define("SIZE", p.padded_size()), define("VALUE", p.padded_value());
  define("VALUE_STORED", p.padded_value()), define("VALUE_SCALE", cat("(float)", decimal(p.value_scale)));
  define("MASK_TILES", p.mask_tiles ? 1 : 0);
  define("TF32", p.dtype == DType::f32 ? 1 : 0), define("DEPTH", 256 / bits(p.dtype));  // elements along k of one product
  define("KEYS", p.whole > 0 ? p.whole : kAttentionKeys), define("MASK_ROW", p.mask_row ? 1 : 0), define("EXACTLY", p.exactly ? 1 : 0);
  define("BF16", p.dtype == DType::bf16 ? 1 : 0);
  define("ONES", p.dtype == DType::bf16 ? "0x3f803f80" : bits(p.dtype) == 8 ? "0x38383838" : "0x3c003c00");
  define("BOUNDS", cat("32 * WARPS", p.blocks > 0 ? cat(", ", p.blocks) : ""));
  define("PART", attention_part(p)), define("ROW_BLOCKS", p.row_blocks);
  define("WARPS", p.warps), define("THREADS", kSimpleThreads);
  define("SCALE", cat("(float)", decimal(p.scale))), define("CAUSAL", p.causal ? "true" : "false"), define("MASKED", p.masked ? 1 : 0);
  define("ZERO_ROWS", p.zero_rows ? 1 : 0);
  define("PACKED", p.packed ? 1 : 0), define("CAPPED", p.cap > 0 ? 1 : 0), define("CAP", decimal(p.cap));
}

}  // namespace tenfold::backends::cuda
