// norm_axis: operators on lines along an axis, of any length (codegen/norm/lines.h): softmax and normalizations that
// norm_rows refuses, statistics included, and others. Where groups are normalized, a block has one group of one
// sample.
#include "backends/cuda/codegen/norm/lines.h"
#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/elements_common.h"
#include "backends/cuda/tactics/norm/rows_common.h"
#include "base/checked.h"
#include "ir/op_def.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

using std::int64_t;


LineKind kind_of(const Problem& p) {
  const std::string& op = p.op->name;
  if (op == "Softmax") return LineKind::softmax;
  if (op == "LogSoftmax") return LineKind::log_softmax;
  if (op == "LayerNormalization") return LineKind::layer_norm;
  if (op == "RMSNormalization") return LineKind::rms_norm;
  if (op == "Hardmax") return LineKind::hardmax;
  if (op == "LpNormalization") return p.attributes->integer("p") == 1 ? LineKind::absolutes : LineKind::squares;
  return LineKind::group_norm_nhwc;  // Instance- and GroupNormalization, GroupNormNhwc
}
bool is_norm(LineKind kind) { return kind == LineKind::layer_norm || kind == LineKind::rms_norm; }

// The first dim of a line; lines of norms go on to the last one.
std::size_t axis_of(const Problem& p) {
  const auto rank = static_cast<int64_t>(p.in[0].dims.size());
  return static_cast<std::size_t>((p.attributes->integer("axis", -1) + rank) % rank);
}

Verdict operands(const Problem& p) {
  if (p.body) return Verdict::no("no epilogue is possible");
  if (p.in[0].dims.empty()) return Verdict::no("a scalar has no axis");
  for (const auto* side : {&p.in, &p.out})
    for (const OperandDesc& o : *side) {
      if (o.missing) continue;
      if (o.dtype != DType::f32 && o.dtype != DType::f16 && o.dtype != DType::bf16)
        return Verdict::no(cat("an operand is ", name(o.dtype)));
      if (!o.dense || (o.layout != kPlain && !same_as_plain(o.layout, o.dims))) return Verdict::no("an operand is not dense and plain");
    }
  return Verdict::only_if(p.bounds(ir::product(p.in[0].dims)).upper < int64_t{1} << 31, "too many elements");
}

Verdict supports(const Problem& p) {
  if (Verdict v = operands(p); !v) return v;
  const LineKind kind = kind_of(p);
  if (kind == LineKind::group_norm_nhwc) {
    const int64_t groups = p.attributes->integer("num_groups", 1);
    for (std::size_t i = 1; i < 3; ++i)
      if (p.in[0].dims.size() >= 2 && given(p.in, i) && p.in[i].dims != ir::Dims{p.in[0].dims[1]})
        return Verdict::no("scale or bias are not one number for each channel");
    return Verdict::only_if(
        p.in[0].dims.size() >= 2 && p.in[0].dims[1].is_constant() && groups > 0 && p.in[0].dims[1].constant() % groups == 0,
        "channels do not divide into groups");
  }
  const ir::Dim length = ir::product(std::span(p.in[0].dims).subspan(axis_of(p)));
  if (kind == LineKind::hardmax && p.bounds(p.in[0].dims[axis_of(p)]).upper > 1 << 24) return Verdict::no("a line is too long");
  if (!is_norm(kind)) {
    RowProblem rows;
    return Verdict::only_if((kind != LineKind::softmax && kind != LineKind::log_softmax) || !as_rows(p, rows), "registers can hold a row");
  }
  for (std::size_t i = 1; i < p.in.size(); ++i) {
    const bool whole = given(p.in, i) && ir::product(p.in[i].dims) == length && p.in[i].dims.size() <= p.in[0].dims.size();
    if (given(p.in, i) && !whole && ir::product(p.in[i].dims) != ir::Dim(1))
      return Verdict::no("scale or bias are broadcast along a part of the line");
  }
  for (std::size_t i = 1; i < p.out.size(); ++i)
    if (given(p.out, i) && (kind != LineKind::layer_norm || p.out[i].dtype != DType::f32))
      return Verdict::no("the statistics are asked for");
  RowProblem rows;
  return Verdict::only_if(!as_rows(p, rows), "registers can hold a row");
}

struct Kernel {
  std::shared_ptr<const LoadedModule> module;
  Function many = nullptr, few = nullptr, columns = nullptr;
  LineKind kind = LineKind::softmax;
  std::size_t axis = 0;
  int64_t groups = 1;
  bool has_scale = false, has_bias = false, has_output[3] = {};
};

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  auto k = std::make_shared<Kernel>();
  LineProblem lines{.kind = kind_of(p), .in = p.in[0].dtype, .out = p.out[0].dtype};
  k->kind = lines.kind;
  k->has_scale = given(p.in, 1), k->has_bias = lines.has_bias = given(p.in, 2);
  if (k->has_scale) lines.scale = p.in[1].dtype;
  if (k->has_bias) lines.bias = p.in[2].dtype;
  lines.epsilon = static_cast<double>(p.attributes->number("epsilon", 0.f));
  for (std::size_t i = 0; i < 3; ++i) k->has_output[i] = given(p.out, i);
  if (lines.kind != LineKind::group_norm_nhwc)
    k->axis = axis_of(p);
  else
    k->groups = p.attributes->integer("num_groups", p.in[0].dims[1].constant());
  k->module = device_of(*p.device).load(generate_lines(lines), opening);
  k->many = k->module->function("many"), k->few = k->module->function("few"), k->columns = k->module->function("columns");
  return k;
}

int64_t elements(const Bound& b, int from, int to) noexcept {
  int64_t count = 1;
  for (int d = from; d < to; ++d) count *= b.dims[d];
  return count;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const Bound& x = args.in[0];
  const int axis = static_cast<int>(k.axis), end = is_norm(k.kind) ? x.rank : axis + 1;
  LineArguments a{.x = x.data,
                  .scale = nullptr,
                  .bias = nullptr,
                  .y = args.out[0].data,
                  .mean = nullptr,
                  .inverse = nullptr,
                  .lines = elements(x, 0, axis),
                  .length = elements(x, axis, end),
                  .inner = elements(x, end, x.rank),
                  .scale_step = 0,
                  .bias_step = 0,
                  .groups = 1,
                  .per_group = 1,
                  .spatial = 1};
  if (k.kind == LineKind::group_norm_nhwc) {
    a.groups = k.groups, a.per_group = x.dims[1] / k.groups, a.spatial = elements(x, 2, x.rank);
    a.lines = x.dims[0] * k.groups, a.length = a.per_group * a.spatial, a.inner = 1;
  } else {
    a.lines *= a.inner;
  }
  if (a.lines == 0 || a.length == 0) return Status::ok;
  if (k.has_scale) a.scale = args.in[1].data, a.scale_step = elements(args.in[1], 0, args.in[1].rank) == 1 ? 0 : 1;
  if (k.has_bias) a.bias = args.in[2].data, a.bias_step = elements(args.in[2], 0, args.in[2].rank) == 1 ? 0 : 1;
  if (k.has_output[1]) a.mean = args.out[1].data;
  if (k.has_output[2]) a.inverse = args.out[2].data;
  constexpr int64_t kFew = 1024;
  if (a.inner > 1)
    return launch(queue_of(args), k.columns, {static_cast<unsigned>(ceil_div(a.lines, int64_t{kLineColumns}))}, kLineThreads, 0, &a,
                  Start::early);
  const bool few = a.length <= kFew;
  return launch(queue_of(args), few ? k.few : k.many, {static_cast<unsigned>(a.lines)},
                static_cast<unsigned>(few ? kFewLineThreads : kLineThreads), 0, &a, Start::early);
}

}  // namespace

Tactic cuda_norm_axis() {
  return {.name = "norm_axis",
          .ops = {{"GroupNormNhwc", "group_norm_nhwc_axis"},
                  {"GroupNormalization", "group_norm_axis"},
                  {"Hardmax", "hardmax_axis"},
                  {"InstanceNormalization", "instance_norm_axis"},
                  {"LayerNormalization", "layer_norm_axis"},
                  {"LogSoftmax", "log_softmax_axis"},
                  {"LpNormalization", "lp_normalization_axis"},
                  {"RMSNormalization", "rms_norm_axis"},
                  {"Softmax", "softmax_axis"}},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .cases = {"Softmax f16[5,300,3](-30,30) axis=1",
                    "Softmax bf16[3,70,203](-30,30) axis=1",
                    "Hardmax f16[70,1003]",
                    "LpNormalization f32[3,700,70] axis=1 p=1",
                    "LayerNormalization f32[3,40000] f32[40000] f32[40000] outputs=3",
                    "LayerNormalization f16[9,700](90,91) f16[1]",
                    "RMSNormalization f16[2,33000] f16[33000]",
                    "GroupNormalization f16[2,12,17,19] f16[12] f16[12] num_groups=3",
                    "LogSoftmax bf16[3,70,203](-30,30) axis=1"}};
}

}  // namespace tenfold::backends
