// arg_lanes: ArgMax and ArgMin along any axis, of every type: a thread for each result, or a block where the axis is
// long. Elements are ordered by value and then by place, so that it does not matter in which order they are met.
#include "backends/cuda/tactics/threads_common.h"
#include "ir/op_def.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

std::size_t axis_of(const Problem& p) {
  const auto rank = static_cast<std::int64_t>(p.in[0].dims.size());
  return static_cast<std::size_t>((p.attributes->integer("axis") + rank) % rank);
}

Verdict supports(const Problem& p) {
  if (p.in[0].dims.empty()) return Verdict::no("a scalar has no axis");
  if (!has_c_type(p.in[0].dtype) || p.in[0].dtype == DType::f8e4m3fn) return Verdict::no(cat("elements are ", name(p.in[0].dtype)));
  if (p.bounds(p.in[0].dims[axis_of(p)]).lower < 1) return Verdict::no("the axis may be empty");
  if (p.bounds(ir::product(p.out[0].dims)).upper >= std::int64_t{1} << 31) return Verdict::no("too many results");
  return can_generate_threads(p);
}

struct Kernel {
  OpenThreads threads;
  std::size_t axis;
};

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  const std::size_t axis = axis_of(p);
  KernelText text;
  text.define("AXIS", axis), text.define("LARGEST", p.op->name == "ArgMax" ? "true" : "false");
  text.define("LAST", p.attributes->integer("select_last_index") != 0 ? "true" : "false");
  return std::make_shared<Kernel>(Kernel{OpenThreads(p, opening, "reduce/arg_lanes.cu", text, {"thread", "block"}), axis});
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const std::int64_t extent = args.in[0].dims[k.axis], results = elements_of(args.out[0]);
  constexpr std::int64_t kManyResults = 1 << 16;
  const bool blocks = extent >= kThreadsOfBlock && results < kManyResults;
  return k.threads.run(args, blocks ? 1 : 0, results, blocks ? results : -1);
}

}  // namespace

Tactic cuda_arg_lanes() {
  return {.name = "arg_lanes",
          .ops = {{"ArgMax", "arg_max_lanes"}, {"ArgMin", "arg_min_lanes"}},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .cases = {"ArgMax f32[3,1000] axis=1",
                    "ArgMin i32[700,3](-9,9) axis=0 select_last_index=1"}};
}

}  // namespace tenfold::backends
