// norm_rows: softmax, normalizations and quantization of contiguous rows of a known length, which stay in registers.
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/elements_common.h"
#include "backends/cuda/tactics/norm/rows_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Verdict supports(const Problem& p) {
  RowProblem rows;
  return as_rows(p, rows);
}

struct Kernel {
  RowKernel kernel;
  std::shared_ptr<const LoadedModule> module;
  Function vectors = nullptr, singles = nullptr;
  std::int64_t length = 0;
  bool scaled = false, biased = false;
};

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  RowProblem rows;
  as_rows(p, rows);
  auto k = std::make_shared<Kernel>();
  k->kernel = generate_rows(rows);
  k->module = device_of(*p.device).load(k->kernel.source, opening);
  k->vectors = k->module->function("vectors"), k->singles = k->module->function("singles");
  k->length = rows.length;
  k->scaled = rows.kind == RowKind::layer_norm || rows.kind == RowKind::rms_norm;
  k->biased = rows.has_bias;
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  std::int64_t elements = 1;
  for (int d = 0; d < args.in[0].rank; ++d) elements *= args.in[0].dims[d];
  const RowArguments argument{args.in[0].data,
                              args.out[0].data,
                              k.scaled ? args.in[1].data : nullptr,
                              k.biased ? args.in[2].data : nullptr,
                              elements / k.length,
                              nullptr,
                              args.out.size() > 1 ? args.out[1].data : nullptr};
  bool aligned = true;
  for (const void* pointer : {argument.x, static_cast<const void*>(argument.y), argument.scale, argument.bias})
    aligned = aligned && reinterpret_cast<std::uint64_t>(pointer) % 16 == 0;
  const Grid grid{ceil_div(argument.rows, std::int64_t{k.kernel.rows})};
  return launch(queue_of(args), aligned ? k.vectors : k.singles, grid, static_cast<unsigned>(k.kernel.threads * k.kernel.rows), 0,
                &argument, Start::early);
}

bool may_alias(const Problem& p, int in, int out) { return in == 0 && out == 0 && p.in[0].dtype == p.out[0].dtype; }

}  // namespace

Tactic cuda_norm_rows() {
  return {.name = "norm_rows",
          .ops = {{"LayerNormalization", "layer_norm_rows"},
                  {"LogSoftmax", "log_softmax_rows"},
                  {"QuantizeRows", "quantize_rows"},
                  {"RMSNormalization", "rms_norm_rows"},
                  {"Softmax", "softmax_rows"}},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .may_alias = may_alias,
          .cases = {"LayerNormalization f16[3,130,384] f16[384] f16[384]",
                    "LayerNormalization bf16[7,1003] bf16[1003]",
                    "LayerNormalization f16[2,20000] f16[20000] f16[20000]",
                    "LayerNormalization bf16[3,130,384] bf16[384] bf16[384]",
                    "LayerNormalization bf16[9,77](900,910) bf16[77] bf16[77]",
                    "RMSNormalization f16[7,768] f16[768]",
                    "RMSNormalization bf16[7,769] bf16[769]",
                    "Softmax f16[37,1003](-30,30)",
                    "Softmax bf16[37,1003](-30,30)",
                    "LogSoftmax bf16[37,70](-30,30)",
                    "QuantizeRows f16[3,130,384](-3,5) to=\"i8\"",
                    "QuantizeRows f32[7,1003](-3,5) to=\"f8e4m3fn\"",
                    "QuantizeRows bf16[2,20000](-0.1,0.2)"}};
}

}  // namespace tenfold::backends
