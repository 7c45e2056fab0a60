// rotary_embedding_elements: RotaryEmbedding, a thread for each element. A position outside the table is noted.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

constexpr const char* kRule = R"(
RULE(element) {
  i64 at[8];
  places<RANK0>(a.in[0], i, at);
  const i64 size = RANK0 == 4 ? a.in[0].d[3] : a.in[0].d[2] / HEADS, inner = at[RANK0 - 1] % size, row = at[RANK0 - 2];
  const T0* x = (const T0*)a.in[0].p + offset<RANK0>(a.in[0], at);
  TY0* y = (TY0*)a.out[0].p + offset<RANK0>(a.out[0], at);
  const i64 turned = TURNED > 0 ? TURNED : size, half = turned / 2;
  if (inner >= turned) {
    *y = *x;
    return;
  }
  const bool second = INTERLEAVED ? inner % 2 != 0 : inner >= half;
  const i64 angle = INTERLEAVED ? inner / 2 : inner % half, pair = (second ? -1 : 1) * (INTERLEAVED ? 1 : half);
#if GIVEN3
  i64 position = (i64)((const T3*)a.in[3].p)[at[0] * a.in[3].s[0] + row * a.in[3].s[1]];
  const bool there = position >= 0 && position < a.in[1].d[0];
  if (!there) *a.bad_index = 1, position = 0;
  const i64 cosine = position * a.in[1].s[0] + angle * a.in[1].s[1], sine = position * a.in[2].s[0] + angle * a.in[2].s[1];
#else
  const i64 cosine = at[0] * a.in[1].s[0] + row * a.in[1].s[1] + angle * a.in[1].s[2];
  const i64 sine = at[0] * a.in[2].s[0] + row * a.in[2].s[1] + angle * a.in[2].s[2];
#endif
  const float c = LOAD1(((const T1*)a.in[1].p)[cosine]), s = LOAD2(((const T2*)a.in[2].p)[sine]);
  const float own = LOAD0(*x), its = LOAD0(x[pair * a.in[0].s[RANK0 - 1]]);
  const float r = second ? s * its + c * own : c * own - s * its;
  *y = STOREY0(r);
}
)";

Verdict supports(const Problem& p) {
  for (std::size_t i = 0; i < 3; ++i)
    if (!is_short_float(p.in[i].dtype)) return Verdict::no(cat("an operand is ", name(p.in[i].dtype)));
  if (given(p, 3) && !is_index(p.in[3].dtype)) return Verdict::no("positions are not i32 or i64");
  // What the operator wants of its tables is compared by the reference alone, unless the types say it.
  const ir::Dims& x = p.in[0].dims;
  const std::int64_t heads = p.attributes->integer("num_heads"), asked = p.attributes->integer("rotary_embedding_dim");
  if (!x.back().is_constant() || (x.size() == 3 && (heads < 1 || x[2].constant() % heads != 0)))
    return Verdict::no("heads of no constant size");
  const std::int64_t size = x.size() == 4 ? x[3].constant() : x[2].constant() / heads, turned = asked == 0 ? size : asked;
  if (turned < 2 || turned > size || turned % 2 != 0) return Verdict::no("an odd number of elements is turned, or too many");
  const ir::Dim batch = x[0], rows = x[x.size() - 2], half(turned / 2);
  if (given(p, 3) && p.in[3].dims != ir::Dims{batch, rows}) return Verdict::no("positions are not one for each row");
  const ir::Dims wanted = given(p, 3) ? ir::Dims{p.in[1].dims[0], half} : ir::Dims{batch, rows, half};
  if (p.in[1].dims != wanted || p.in[2].dims != wanted) return Verdict::no("the tables' extents are not those that rows and heads ask for");
  return can_generate_threads(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  const std::string head = defined("HEADS", std::max<std::int64_t>(p.attributes->integer("num_heads"), 1)) +
                           defined("TURNED", p.attributes->integer("rotary_embedding_dim")) +
                           defined("INTERLEAVED", p.attributes->integer("interleaved") != 0 ? 1 : 0);
  return std::make_shared<OpenThreads>(p, opening, head, kRule);
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
