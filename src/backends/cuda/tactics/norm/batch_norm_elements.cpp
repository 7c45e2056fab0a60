// batch_norm_elements: BatchNormalization with stored statistics that are no constants, a thread for each element.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

constexpr const char* kRule = R"(
RULE(element) {
  i64 at[8];
  places<RANK0>(a.in[0], i, at);
  const i64 c = RANK0 > 1 ? at[1] : 0;
  const float x = LOAD0(((const T0*)a.in[0].p)[offset<RANK0>(a.in[0], at)]);
  const float scale = LOAD1(((const T1*)a.in[1].p)[c * a.in[1].s[0]]), bias = LOAD2(((const T2*)a.in[2].p)[c * a.in[2].s[0]]);
  const float mean = LOAD3(((const T3*)a.in[3].p)[c * a.in[3].s[0]]), variance = LOAD4(((const T4*)a.in[4].p)[c * a.in[4].s[0]]);
  const float r = (x - mean) * (scale / sqrtf(variance + EPSILON)) + bias;
  ((TY0*)a.out[0].p)[offset<RANK0>(a.out[0], at)] = STOREY0(r);
}
)";

Verdict supports(const Problem& p) {
  if (p.attributes->integer("training_mode") != 0) return Verdict::no("statistics of the batch itself");
  for (std::size_t i = 0; i < 5; ++i) {
    if (!is_short_float(p.in[i].dtype)) return Verdict::no(cat("an operand is ", name(p.in[i].dtype)));
    if (i > 0 && p.in[i].dims.size() != 1) return Verdict::no("the parameters are no vectors");
    if (i > 0 && p.in[0].dims.size() > 1 && p.in[i].dims[0] != p.in[0].dims[1])
      return Verdict::no("there may be more or fewer parameters than channels");
  }
  return can_generate_threads(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  const std::string head = defined("EPSILON", exact(static_cast<double>(p.attributes->number("epsilon"))));
  return std::make_shared<OpenThreads>(p, opening, head, kRule);
}

}  // namespace

Tactic cuda_batch_norm_elements() {
  return {.name = "batch_norm_elements",
          .ops = {"BatchNormalization"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each};
}

}  // namespace tenfold::backends
