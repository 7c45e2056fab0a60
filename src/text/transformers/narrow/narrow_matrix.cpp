#include "text/transformers/narrow/narrow_matrix.h"

#include <algorithm>

namespace tenfold::transformers {
namespace {

Tensor tensor_of(const std::vector<std::int64_t>& values) {
  Tensor tensor(DType::i64, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.mutable_data<std::int64_t>());
  return tensor;
}

Tensor number(float value) {
  Tensor tensor(DType::f32, {});
  *tensor.mutable_data<float>() = value;
  return tensor;
}

}  // namespace

NetworkTensor narrow_product(Network& net, NetworkTensor x, const NarrowMatrix& m, const std::string& name) {
  if (!m.order.empty()) x = net.gather(x, net.constant(tensor_of(m.order)), static_cast<std::int64_t>(net.dims(x).size()) - 1);
  NetworkTensor scales = net.constant(m.scales, name + ".weight_scale");
  if (m.scales.dtype() == DType::f8e4m3fn) scales = net.add_node("DequantizeLinear", {scales, net.constant(number(1 / m.global))})[0];
  std::vector<NetworkTensor> operands{net.constant(m.values, name + ".weight"), scales};
  if (m.zeros.defined()) operands.push_back(net.constant(m.zeros, name + ".weight_zero_point"));
  NetworkAttributes attributes{{"axis", std::int64_t{0}}, {"block_size", m.block}};
  if (m.scales.dtype() == DType::f8e8m0) attributes["output_dtype"] = std::int64_t{1};  // float
  return net.matrix_multiply(x, net.add_node("DequantizeLinear", operands, attributes)[0]);
}

NarrowMaker::NarrowMaker(int bits, std::int64_t in, std::int64_t out, std::int64_t block)
    : bits_(bits), out_(out), blocks_((in + block - 1) / block) {
  matrix_.values = Tensor(bits == 4 ? DType::u4 : DType::u8, {in, out});
  matrix_.scales = Tensor(DType::f32, {blocks_, out});
  matrix_.block = block;
  values_ = matrix_.values.mutable_data<std::uint8_t>(), scales_ = matrix_.scales.mutable_data<float>();
  zeros_.resize(static_cast<std::size_t>(blocks_ * out), static_cast<std::uint8_t>(1 << (bits - 1)));
}

void NarrowMaker::set_row(std::int64_t row, std::int64_t column, std::span<const std::uint8_t> values) {
  std::int64_t at = row * out_ + column;
  std::size_t i = 0;
  if (bits_ == 4 && at % 2 == 0)
    for (; i + 2 <= values.size(); i += 2, at += 2) values_[at / 2] = static_cast<std::uint8_t>(values[i] | values[i + 1] << 4);
  for (; i < values.size(); ++i, ++at) put(values_, at, values[i]);
}

NarrowMatrix NarrowMaker::take_e2m1(Tensor scales, float global) {
  matrix_.values = Tensor(DType::f4e2m1, matrix_.values.shape(), std::make_shared<Tensor>(matrix_.values), values_);
  matrix_.scales = std::move(scales), matrix_.global = global;
  return std::move(matrix_);
}

NarrowMatrix NarrowMaker::take() {
  const auto half = static_cast<std::uint8_t>(1 << (bits_ - 1));
  if (std::all_of(zeros_.begin(), zeros_.end(), [&](std::uint8_t zero) { return zero == half; })) {
    const auto turned = static_cast<std::uint8_t>(bits_ == 4 ? 0x88 : 0x80);
    std::for_each(values_, values_ + matrix_.values.bytes(), [&](std::uint8_t& byte) { byte ^= turned; });
    matrix_.values = Tensor(bits_ == 4 ? DType::i4 : DType::i8, matrix_.values.shape(), std::make_shared<Tensor>(matrix_.values), values_);
    return std::move(matrix_);
  }
  matrix_.zeros = Tensor(matrix_.values.dtype(), matrix_.scales.shape());
  auto* const to = matrix_.zeros.mutable_data<std::uint8_t>();
  for (std::size_t i = 0; i < zeros_.size(); ++i) put(to, static_cast<std::int64_t>(i), zeros_[i]);
  return std::move(matrix_);
}

}  // namespace tenfold::transformers
