// one_hot_elements: OneHot, a thread for each element of the result, which compares its place with the index.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

constexpr const char* kRule = R"(
RULE(element) {
  i64 at[8], of_index = 0;
  places<RANKY0>(a.out[0], i, at);
  #pragma unroll
  for (int d = 0; d < RANK0; ++d) of_index += at[d < AXIS ? d : d + 1] * a.in[0].s[d];
  i64 index = (i64)LOAD0(((const T0*)a.in[0].p)[of_index]);
  if (index < 0) index += a.out[0].d[AXIS];
  const T2* values = (const T2*)a.in[2].p;
  ((TY0*)a.out[0].p)[offset<RANKY0>(a.out[0], at)] = values[index == at[AXIS] ? a.in[2].s[0] : 0];
}
)";

Verdict supports(const Problem& p) {
  if (!has_c_type(p.in[0].dtype)) return Verdict::no(cat("indices are ", name(p.in[0].dtype)));
  if (p.in[2].dims != ir::Dims{ir::Dim(2)}) return Verdict::no("how many values there are is not known");
  return can_generate_threads(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  const auto rank = static_cast<std::int64_t>(p.out[0].dims.size());
  const std::string head = defined("AXIS", (p.attributes->integer("axis") + rank) % rank);
  return std::make_shared<OpenThreads>(p, opening, head, kRule);
}

}  // namespace

Tactic cuda_one_hot_elements() {
  return {.name = "one_hot_elements",
          .ops = {"OneHot"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each,
          .cases = {"OneHot i64[30,7](-40,40) i64[]{37} f32[2] axis=1"}};
}

}  // namespace tenfold::backends
