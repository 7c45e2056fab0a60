// Printing the attention kernel for Hopper: a warp asks for what groups of four warps multiply; softmax is kept as a running maximum and
// sum, as in FlashAttention (Dao et al., 2022), unless one step sees all keys.
#include "backends/cuda/codegen/attention/attention_wgmma.h"

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/codegen/wgmma_text.h"
#include "base/check.h"

namespace tenfold::backends::cuda {

int attention_chunk(const AttentionProblem& p) { return p.size <= 32 ? 32 : 64; }

int AttentionTile::shared_bytes(const AttentionProblem& p) const {
  const int chunk = attention_chunk(p), columns = static_cast<int>((p.size + chunk - 1) / chunk) * chunk;
  const int team = 2 * 2 * columns * queries() + stages * (2 * 2 * columns * keys + 4 * keys) + 8 * (2 * stages + 4);
  return 1024 + teams * ((team + 1023) / 1024 * 1024);
}

std::string generate_attention_wgmma(const AttentionProblem& p, const AttentionTile& tile, std::int64_t keys, std::int64_t max_keys) {
  KernelText text;
  text.define("BF16", p.dtype == DType::bf16 ? 1 : 0), text.define("MASK", storage_type(p.mask));
  text.define("LOAD_MASK(x)", loaded(p.mask, "(x)")), text.define("RESULT", storage_type(p.out));
  text.define("HEAD_SIZE", p.size), text.define("CHUNK", attention_chunk(p)), text.define("SCALE", p.scale);
  text.define("WARPGROUPS", tile.groups), text.define("TEAMS", tile.teams), text.define("KEYS", tile.keys);
  text.define("STAGES", tile.stages), text.define("REGISTERS", tile.registers()), text.define("ALL_KEYS", keys);
  text.define("WHOLE", max_keys <= tile.keys ? 1 : 0), text.define("CAUSAL", p.causal ? "true" : "false");
  text.define("MASKED", p.masked ? 1 : 0), text.define("MASK_ROW", p.masked && p.mask_row ? 1 : 0);
  text.define("CAPPED", p.cap > 0 ? 1 : 0), text.define("CAP", p.cap);
  text.define("ZERO_ROWS", p.zero_rows ? 1 : 0);
  text.define("ARRIVING_LANES", arriving_lanes());
  text.declare(wgmma_text("wgmma", tile.keys, p.dtype, p.dtype));
  text.declare(wgmma_registers_text("wgmma_values", p.size, p.dtype));
  text.define("STORED", bits(p.out) == 16 ? 0 : p.out == DType::f8e4m3fn ? 1 : 2);
  if (bits(p.out) != 16) text.declare(attention_epilogue(p));
  return text.of("attention/attention_wgmma.cu");
}

}  // namespace tenfold::backends::cuda
