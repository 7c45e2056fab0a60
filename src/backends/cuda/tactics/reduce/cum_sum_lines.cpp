// cum_sum_lines: CumSum and CumProd, a warp for each line, or a thread where lines lie side by side.
#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/device/launch.h"
#include "backends/cuda/kernels/reduce/cum_sum_args.h"
#include "backends/cuda/tactics/elements_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

constexpr int kThreads = 128;
constexpr int64_t kSideBySide = 32;   // so many: neighboring threads read neighboring elements

Verdict supports(const Problem& p) {
  if (p.in.size() > 1 && !p.in[1].missing) return Verdict::no("the axis is not known when building");
  if (!has_c_type(p.in[0].dtype) || p.in[0].dtype == DType::boolean) return Verdict::no(cat("elements are ", name(p.in[0].dtype)));
  for (const OperandDesc* o : {&p.in[0], &p.out[0]})
    if (!o->dense || o->layout != kPlain) return Verdict::no("an operand is not dense and plain");
  return Verdict::only_if(p.bounds(ir::product(p.in[0].dims)).upper < int64_t{1} << 31, "too many elements");
}

struct Kernel {
  std::shared_ptr<const LoadedModule> module;
  Function warps = nullptr, threads = nullptr;
  int axis = 0;
};

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  auto k = std::make_shared<Kernel>();
  const DType type = p.in[0].dtype;
  const auto rank = static_cast<int64_t>(p.in[0].dims.size()), axis = p.attributes->integer("axis");
  k->axis = static_cast<int>(axis < 0 ? axis + rank : axis);
  const auto yes = [&](const char* name) { return p.attributes->integer(name) != 0 ? "true" : "false"; };
  const std::string sum(is_float(type) ? compute_type(type) : "long long");   // integers wrap when they are stored
  KernelText text;
  text.define("ELEMENT", storage_type(type)), text.define("SUM", sum), text.define("LOAD(x)", loaded(type, "(x)"));
  text.define("STORE(x)", stored(type, "(x)")), text.define("EXCLUSIVE", yes("exclusive")), text.define("REVERSE", yes("reverse"));
  const bool product = p.op->name == "CumProd";
  text.define("START", product ? 1 : 0), text.define("JOIN(a, b)", product ? "((a) * (b))" : "((a) + (b))");
  text.define("THREADS", kThreads);
  k->module = device_of(*p.device).load(text.of("reduce/cum_sum_lines.cu"), opening);
  k->warps = k->module->function("warps"), k->threads = k->module->function("threads");
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const Bound& x = args.in[0];
  CumSumArguments a{x.data, args.out[0].data, 1, x.dims[k.axis], 1};
  for (int d = k.axis + 1; d < x.rank; ++d) a.inner *= x.dims[d];
  for (int d = 0; d < x.rank; ++d) a.lines *= d == k.axis ? 1 : x.dims[d];
  const bool side_by_side = a.inner >= kSideBySide;
  const int64_t lines_of_block = side_by_side ? kThreads : kThreads / 32;
  return launch(queue_of(args), side_by_side ? k.threads : k.warps, {static_cast<unsigned>(ceil_div(a.lines, lines_of_block))}, kThreads, 0,
                &a, Start::early);
}

}  // namespace

Tactic cuda_cum_sum_lines() {
  return {.name = "cum_sum_lines",
          .ops = {"CumSum", {"CumProd", "cum_prod_lines"}},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run};
}

}  // namespace tenfold::backends
