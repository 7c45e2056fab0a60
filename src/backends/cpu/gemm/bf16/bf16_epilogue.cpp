// Epilogues of products of bf16.
#include "backends/cpu/gemm/bf16/bf16_epilogue.h"

#include "backends/cpu/block/lower.h"

namespace tenfold::backends::cpu {
namespace {

bool stores(DType t) { return t == DType::f32 || t == DType::bf16; }
int bytes_of(DType t) { return t == DType::f32 ? 4 : 2; }

// What `body` makes of its value `v` alone; nothing if it needs more.
std::optional<ir::Body> behind(const ir::Body& body, int v) {
  ir::Body rest{{body.type_of(v)}, {}, {}, 0};
  std::vector<int> map(static_cast<std::size_t>(body.value_count()), -1);
  map[static_cast<std::size_t>(v)] = 0;
  for (std::size_t i = 0; i < body.code.size(); ++i) {
    ir::Instr instr = body.code[i];
    std::uint16_t* const operands[] = {&instr.a, &instr.b, &instr.c};
    int& to = map[body.inputs.size() + i];
    bool known = to < 0;
    for (int k = 0; k < ir::arity(instr.prim) && known; ++k) {
      known = map[*operands[k]] >= 0;
      if (known) *operands[k] = static_cast<std::uint16_t>(map[*operands[k]]);
    }
    if (!known) continue;
    to = rest.value_count();
    rest.code.push_back(instr);
  }
  const int last = map[body.outputs[0]];
  if (last < 0) return std::nullopt;
  rest.outputs = {static_cast<std::uint16_t>(last)};
  return ir::simplify(rest);
}

// The body that comes before a GELU at the end of the problem's.
std::optional<ir::Body> before_gelu(const Problem& p) {
  const auto is_erf = [](const ir::Instr& i) { return i.prim == ir::Prim::erf; };
  if (!p.body || p.body->outputs.size() != 1 || std::none_of(p.body->code.begin(), p.body->code.end(), is_erf)) return std::nullopt;
  const PointwiseTables tables = PointwiseTables::of(p.device->features);
  for (int v = p.body->outputs[0]; tables.bf16 && v >= 0; --v) {
    const auto rest = behind(*p.body, v);
    if (!rest || !why_not(*rest).empty()) continue;
    const Lowered items = lower(*rest, tables);
    if (items.items.size() != 1 || items.items[0].op != Op::gelu_erf || items.items[0].bytes != 2) continue;
    ir::Body head = *p.body;
    head.outputs = {static_cast<std::uint16_t>(v)};
    return ir::simplify(head);
  }
  return std::nullopt;
}

struct SimpleForm {
  SimpleEpilogue sum;
  bool gelu = false;
};

// Bounds that are operands are left to the general way.
std::optional<SimpleForm> simple_form(const Problem& p, int channel_axis, int own_bias) {
  const auto head = bf16_terms(p) == 1 ? before_gelu(p) : std::nullopt;   // that of registers is as good as bf16
  Problem summed = p;
  if (head) summed.body = &*head;
  const auto form = simple_epilogue(summed, channel_axis, p.out[0].dtype);
  if (!form || (own_bias >= 0 && form->bias >= 0) || form->low_operand >= 0 || form->high_operand >= 0) return std::nullopt;
  return SimpleForm{*form, head.has_value()};
}

}  // namespace

Verdict Bf16Epilogue::supports(const Problem& p, int channel_axis, int own_bias) {
  if (simple_form(p, channel_axis, own_bias)) return Verdict::only_if(stores(p.out[0].dtype), "the result is neither f32 nor bf16");
  return Epilogue::supports(p);
}

Bf16Epilogue::Bf16Epilogue(const Problem& p, int channel_axis, int own_bias) : own_bias_(own_bias), out_(p.out[0].dtype) {
  const auto form = simple_form(p, channel_axis, own_bias);
  simple_ = form.has_value();
  if (simple_)
    form_ = form->sum, gelu_ = form->gelu;
  else
    general_ = Epilogue(p, DType::f32);
  const auto type = [&p](int index, DType& to) {
    if (index >= 0) to = p.in[static_cast<std::size_t>(index)].dtype;
  };
  type(own_bias >= 0 ? own_bias : form_.bias, bias_);
  type(form_.residual, residual_);
}

void Bf16Epilogue::bind(const RunArgs& args, const TileAxes& axes, std::int64_t out_stride, Binding& binding) const noexcept {
  const auto data = [&](int index) { return index < 0 ? nullptr : args.in[static_cast<std::size_t>(index)].as<const char>(); };
  GemmBf16EpilogueArgs& f = binding.epilogue;
  f.bias = own_bias_ >= 0 ? data(own_bias_) : data(form_.bias);
  f.bias_wide = bias_ == DType::f32;
  f.residual = data(form_.residual);
  f.residual_wide = residual_ == DType::f32;
  if (f.residual) f.residual_stride = args.in[static_cast<std::size_t>(form_.residual)].dims[axes.cols[0]];   // it is dense
  f.clamp = form_.clamp, f.gelu = gelu_;
  f.low = form_.low, f.high = form_.high;
  f.out_wide = simple_ ? out_ == DType::f32 : true;
  binding.out = args.out[0].as<char>();
  binding.out_stride = out_stride;
  binding.out_bytes = bytes_of(out_);
  if (!simple_) general_.bind(args, axes, binding.general.emplace());
}

void Bf16Epilogue::place(const Binding& b, const Rows& rows, std::int64_t sums, GemmBf16Waiting::Row* to,
                         std::int64_t step) const noexcept {
  const GemmBf16EpilogueArgs& f = b.epilogue;
  const std::int64_t out_step = b.out_stride * b.out_bytes, residual_step = f.residual ? f.residual_stride * (f.residual_wide ? 4 : 2) : 0;
  for (std::int64_t r = 0, row = rows.first; r < rows.count; ++r, row += rows.step)
    to[r] = {sums + r * step, b.out + row * out_step, f.residual ? f.residual + row * residual_step : nullptr};
}

void Bf16Epilogue::apply(const GemmBf16Kernels& kernels, const Binding& b, const Rows& rows, std::int64_t col, std::int64_t cols,
                         float* sums, std::int64_t stride, void* scratch) const noexcept {
  const GemmBf16EpilogueArgs& f = b.epilogue;
  if (f.bias) kernels.add_bias(f.bias + col * (f.bias_wide ? 4 : 2), f.bias_wide, sums, stride, rows.count, cols);
  general_.apply(*b.general, rows.first, rows.count, col, cols, sums, stride, scratch);
}

}  // namespace tenfold::backends::cpu
