// rotary_embedding_elements: RotaryEmbedding, a thread for each element. A position outside the table is noted.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Verdict supports(const Problem& p) {
  for (std::size_t i = 0; i < 3; ++i)
    if (!is_short_float(p.in[i].dtype)) return Verdict::no(cat("an operand is ", name(p.in[i].dtype)));
  if (given(p, 3) && !is_index(p.in[3].dtype)) return Verdict::no("positions are not i32 or i64");
  // What the operator wants of its tables is compared by the reference alone, unless the types say it.
  const ir::Dims& x = p.in[0].dims;
  const std::int64_t heads = p.attributes->integer("num_heads"), rotary_dim = p.attributes->integer("rotary_embedding_dim");
  if (!x.back().is_constant() || (x.size() == 3 && (heads < 1 || x[2].constant() % heads != 0)))
    return Verdict::no("heads of no constant size");
  const std::int64_t size = x.size() == 4 ? x[3].constant() : x[2].constant() / heads, turned = rotary_dim == 0 ? size : rotary_dim;
  if (turned < 2 || turned > size || turned % 2 != 0) return Verdict::no("an odd number of elements is turned, or too many");
  const ir::Dim batch = x[0], rows = x[x.size() - 2], half(turned / 2);
  if (given(p, 3) && p.in[3].dims != ir::Dims{batch, rows}) return Verdict::no("positions are not one for each row");
  const ir::Dims requested = given(p, 3) ? ir::Dims{p.in[1].dims[0], half} : ir::Dims{batch, rows, half};
  if (p.in[1].dims != requested || p.in[2].dims != requested)
    return Verdict::no("the tables' extents are not those that rows and heads ask for");
  return can_generate_threads(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  KernelText text;
  text.define("HEADS", std::max<std::int64_t>(p.attributes->integer("num_heads"), 1));
  text.define("TURNED", p.attributes->integer("rotary_embedding_dim"));
  text.define("INTERLEAVED", p.attributes->integer("interleaved") != 0 ? 1 : 0);
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
