// rotary_embedding_elements: RotaryEmbedding, a thread for each element. A position outside the table is noted.
#include "backends/cuda/tactics/attention/rotary_common.h"
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Verdict supports(const Problem& p) {
  const RotaryTables tables{p.in[1], p.in[2], given(p, 3) ? &p.in[3] : nullptr};
  if (Verdict v = can_turn(p, p.in[0], tables, p.attributes->integer("num_heads")); !v) return v;
  return can_generate_threads(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  KernelText text;
  text.define("HEADS", std::max<std::int64_t>(p.attributes->integer("num_heads"), 1));
  define_rotation(text, p);
  return std::make_shared<OpenThreads>(p, opening, "attention/rotary_embedding_elements.cu", text);
}

}  // namespace

Tactic cuda_rotary_embedding_elements() {
  return {.name = "rotary_embedding_elements",
          .ops = {"RotaryEmbedding"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each,
          .cases = {"RotaryEmbedding f16[2,5,30,64] f16[50,32] f16[50,32] i64[2,30](0,49)"}};
}

}  // namespace tenfold::backends
