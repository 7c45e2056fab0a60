// From operators on rows to row kernels.
#include "backends/cuda/tactics/norm/rows_common.h"

#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/elements_common.h"
#include "base/checked.h"
#include "ir/op_def.h"

namespace tenfold::backends::cuda {
namespace {

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

std::shared_ptr<const void> open(const Problem& p, const Config&) {
  RowProblem rows;
  as_rows(p, rows);
  auto k = std::make_shared<Kernel>();
  k->kernel = generate_rows(rows);
  k->module = device_of(*p.device).load(k->kernel.source);
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
  const struct {
    const void *x, *y, *scale, *bias;
    std::int64_t rows;
    void *bad_index, *quantised;
  } argument{args.in[0].data, args.out[0].data, k.scaled ? args.in[1].data : nullptr, k.biased ? args.in[2].data : nullptr,
             elements / k.length, nullptr, nullptr};
  bool aligned = true;
  for (const void* pointer : {argument.x, argument.y, argument.scale, argument.bias})
    aligned = aligned && reinterpret_cast<std::uint64_t>(pointer) % 16 == 0;
  const Grid grid{ceil_div(argument.rows, std::int64_t{k.kernel.rows})};
  return launch(queue_of(args), aligned ? k.vectors : k.singles, grid, static_cast<unsigned>(k.kernel.threads * k.kernel.rows), 0,
                &argument, Start::early);
}

bool may_alias(const Problem& p, int in, int out) { return in == 0 && out == 0 && p.in[0].dtype == p.out[0].dtype; }

}  // namespace

Verdict as_rows(const Problem& p, RowProblem& rows) {
  if (p.body) return Verdict::no("no epilogue is possible");
  const OperandDesc& x = p.in[0];
  if (x.dims.empty()) return Verdict::no("a scalar has no rows");
  const bool softmax = p.op->name == "Softmax" || p.op->name == "LogSoftmax";
  rows.kind = p.op->name == "Softmax"              ? RowKind::softmax
              : p.op->name == "LogSoftmax"         ? RowKind::log_softmax
              : p.op->name == "LayerNormalization" ? RowKind::layer_norm
                                                   : RowKind::rms_norm;
  for (const auto* side : {&p.in, &p.out})
    for (const OperandDesc& o : *side) {
      if (o.missing) continue;
      if (o.dtype != DType::f32 && o.dtype != DType::f16 && o.dtype != DType::bf16)
        return Verdict::no(cat("an operand is ", name(o.dtype)));
      if (!o.dense || (o.layout != kPlain && !same_as_plain(o.layout, o.dims))) return Verdict::no("an operand is not dense and plain");
    }
  for (std::size_t i = 1; i < p.out.size(); ++i)
    if (!p.out[i].missing) return Verdict::no("the statistics are asked for as outputs");
  const auto rank = static_cast<std::int64_t>(x.dims.size());
  const std::int64_t axis = (p.attributes->integer("axis", -1) + rank) % rank;
  if (softmax && axis != rank - 1) return Verdict::no("the axis is not the innermost one");
  const ir::Dim length = ir::product(std::span(x.dims).subspan(static_cast<std::size_t>(axis)));
  if (!length.is_constant()) return Verdict::no("the length of a row is not constant");
  rows.length = length.constant();
  if (rows.length < 1 || rows.length > kLongestRow) return Verdict::no("rows are empty or too long");
  rows.in = x.dtype, rows.out = p.out[0].dtype;
  if (softmax) return Verdict::ok();
  const auto whole = [&](const OperandDesc& o) { return ir::product(o.dims) == length && o.dims.size() <= x.dims.size(); };
  if (!whole(p.in[1])) return Verdict::no("the scale is broadcast along the row");
  rows.scale = p.in[1].dtype;
  rows.epsilon = static_cast<double>(p.attributes->number("epsilon"));
  rows.has_bias = rows.kind == RowKind::layer_norm && p.in.size() > 2 && !p.in[2].missing;
  if (rows.has_bias && !whole(p.in[2])) return Verdict::no("the bias is broadcast along the row");
  if (rows.has_bias) rows.bias = p.in[2].dtype;
  return Verdict::ok();
}

Tactic rows_tactic(const char* name, const char* op) {
  return {.name = name, .op = op, .supports = supports, .configs = one_config, .open = open, .run = run, .may_alias = may_alias};
}

}  // namespace tenfold::backends::cuda
