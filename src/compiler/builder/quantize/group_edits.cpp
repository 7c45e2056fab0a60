#include "builder/quantize/group_edits.h"

#include <algorithm>

#include "base/types/element.h"

namespace tenfold::builder {
namespace {

using quant::GroupedWeights;

// Levels, or zero points, in the order of the tensor; around zero they are signed.
Tensor integers(const std::vector<std::uint8_t>& by_column, std::int64_t along, std::int64_t columns, const FileGroups& g) {
  const int middle = g.form.around_zero ? 1 << (g.form.bits - 1) : 0;
  Tensor t(g.form.around_zero ? DType::i4 : DType::u4, g.transposed ? Shape{columns, along} : Shape{along, columns});
  void* const to = t.mutable_raw();
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t i = 0; i < along; ++i)
      store_int(t.dtype(), to, g.transposed ? c * along + i : i * columns + c, by_column[static_cast<std::size_t>(c * along + i)] - middle);
  return t;
}

Tensor scales(const FileGroups& g) {
  const GroupedWeights& w = *g.weights;
  Tensor t(DType::f32, g.transposed ? Shape{w.columns, w.groups} : Shape{w.groups, w.columns});
  auto* const to = t.mutable_data<float>();
  for (std::int64_t c = 0; c < w.columns; ++c)
    for (std::int64_t i = 0; i < w.groups; ++i)
      to[g.transposed ? c * w.groups + i : i * w.columns + c] = w.scales[static_cast<std::size_t>(c * w.groups + i)];
  return t;
}

Tensor scales_by_column(const GroupedWeights& w) {
  Tensor t(DType::f32, {w.columns * w.groups});
  std::copy(w.scales.begin(), w.scales.end(), t.mutable_data<float>());
  return t;
}

// Each column's integers begin on a byte, low bits first.
Tensor bytes_of(const std::vector<std::uint8_t>& by_column, std::int64_t along, std::int64_t columns, int bits, Shape shape) {
  const std::int64_t each = (along * bits + 7) / 8;
  Tensor t(DType::u8, std::move(shape));
  auto* const to = t.mutable_data<std::uint8_t>();
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t i = 0; i < along; ++i)
      to[c * each + i * bits / 8] |= static_cast<std::uint8_t>(by_column[static_cast<std::size_t>(c * along + i)] << (i * bits % 8));
  return t;
}

}  // namespace

std::string GroupEditor::initializer(const std::string& stem, Tensor tensor) {
  std::string name = names_.value(stem);
  out_.edits.initializers.emplace_back(name, std::move(tensor));
  return name;
}

std::string GroupEditor::data(std::size_t place, const FileGroups& g) {
  const std::string& x = proto(place).input[0];
  if (!g.factors) return x;
  std::string& made = divided_[{x, g.factors}];
  if (!made.empty()) return made;
  Tensor by(DType::f32, {static_cast<std::int64_t>(g.factors->size())});
  for (std::size_t i = 0; i < g.factors->size(); ++i) by.mutable_data<float>()[i] = 1 / (*g.factors)[i];
  const std::string factors = initializer(x + "_factors", std::move(by));
  made = names_.value(x + "_scaled");
  out_.edits.before[place].push_back({"Mul", names_.node(x + "_Mul"), {x, factors}, {made}});
  return made;
}

void GroupEditor::dequantize(std::size_t place, const FileGroups& g) {
  const std::string& old = proto(place).input[1];
  replaced_.insert(old);
  std::vector<std::string>& made = written_[g.weights];
  if (made.empty()) {
    const GroupedWeights& w = *g.weights;
    const std::string q = initializer(old + "_quantized", integers(w.values, w.rows, w.columns, g));
    const std::string s = initializer(old + "_scale", scales(g)),
                      z = initializer(old + "_zero_point", integers(w.zeros, w.groups, w.columns, g));
    made = {names_.value(old + "_dequantized")};
    out_.edits.before[place].push_back({"DequantizeLinear", names_.node(old + "_DequantizeLinear"), {q, s, z}, made,
                                        {{"axis", g.transposed ? 1 : 0}, {"block_size", g.form.group}}});
  }
  out_.edits.inputs[place][1] = made[0];
  if (g.factors) out_.edits.inputs[place][0] = data(place, g);
  out_.quantized.insert(place);
}

void GroupEditor::replace_by_nbits(std::size_t place, const FileGroups& g) {
  const onnx::NodeProto& node = proto(place);
  const GroupedWeights& w = *g.weights;
  const std::string& old = node.input[1];
  replaced_.insert(old);
  std::vector<std::string>& made = written_[g.weights];
  const int bits = g.form.bits;
  if (made.empty())
    made = {initializer(old + "_quantized", bytes_of(w.values, w.rows, w.columns, bits, {w.columns, w.groups, g.form.group * bits / 8})),
            initializer(old + "_scale", scales_by_column(w)),
            initializer(old + "_zero_point", bytes_of(w.zeros, w.groups, w.columns, bits, {w.columns * ((w.groups * bits + 7) / 8)}))};
  onnx_export::NewNode product{"MatMulNBits", node.name, {data(place, g), made[0], made[1], made[2]}, {node.output[0]}};
  product.attributes = {{"K", w.rows}, {"N", w.columns}, {"bits", bits}, {"block_size", g.form.group}};
  product.domain = "com.microsoft";
  out_.edits.before[place].push_back(std::move(product));
  out_.edits.left_out_nodes.insert(place);
  out_.edits.domains["com.microsoft"] = 1;
  out_.quantized.insert(place);
}

FileEdits GroupEditor::finish(bool keeps_weights) {
  if (!keeps_weights) leave_out_unused(*model_.graph, replaced_, out_.edits);
  return std::move(out_);
}

}  // namespace tenfold::builder
