// reverse_sequence_elements: ReverseSequence, a thread for each element. A length beyond the steps is noted, and nothing turned.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

constexpr const char* kRule = R"(
RULE(element) {
  i64 at[8];
  places<RANK0>(a.in[0], i, at);
  const i64 to = offset<RANK0>(a.out[0], at), steps = a.in[0].d[TIME];
  i64 length = 0;
  if (at[1 - TIME] < a.in[1].d[0]) length = (i64)((const T1*)a.in[1].p)[at[1 - TIME] * a.in[1].s[0]];
  if (length < 0 || length > steps || a.in[1].d[0] != a.in[0].d[1 - TIME]) *a.bad_index = 1, length = 0;
  if (at[TIME] < length) at[TIME] = length - 1 - at[TIME];
  ((TY0*)a.out[0].p)[to] = ((const T0*)a.in[0].p)[offset<RANK0>(a.in[0], at)];
}
)";

Verdict supports(const Problem& p) {
  if (!is_index(p.in[1].dtype)) return Verdict::no("lengths are not i32 or i64");
  return can_generate_threads(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  const std::string head = defined("TIME", p.attributes->integer("time_axis"));
  return std::make_shared<OpenThreads>(p, opening, head, kRule);
}

}  // namespace

Tactic cuda_reverse_sequence_elements() {
  return {.name = "reverse_sequence_elements",
          .ops = {"ReverseSequence"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each};
}

}  // namespace tenfold::backends
