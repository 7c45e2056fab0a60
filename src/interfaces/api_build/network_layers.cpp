// The helpers of Network that stand for one layer each: nothing but names of operators, attributes and small constants.
#include <array>
#include <limits>
#include <numeric>

#include "api_build/network_impl.h"
#include "ops/onnx_dtype.h"

namespace tenfold {
namespace {

template <std::size_t N, class E>
const char* pick(const std::array<const char*, N>& names, E value) {
  const auto index = static_cast<std::size_t>(value);
  require(index < N, ErrorKind::invalid_argument, "there is no operation number ", index);
  return names[index];
}

constexpr std::array<const char*, 16> kElementwise{
    "Add", "Sub", "Mul", "Div", "Pow", "Min", "Max", "Mod", "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual",
    "And", "Or",  "Xor"};
constexpr std::array<const char*, 25> kUnary{"Exp",   "Log",   "Sqrt", "Reciprocal", "Abs",   "Neg",   "Sin",   "Cos",   "Tan",
                                             "Sinh",  "Cosh",  "Asin", "Acos",       "Atan",  "Asinh", "Acosh", "Atanh", "Ceil",
                                             "Floor", "Round", "Erf",  "Sign",       "IsInf", "IsNaN", "Not"};
constexpr std::array<const char*, 7> kReduce{"ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceMean", "ReduceL1", "ReduceL2"};
constexpr std::array<const char*, 2> kPooling{"MaxPool", "AveragePool"};

// An activation's operator and what it calls its parameters.
struct ActivationForm {
  const char* op;
  const char* alpha = nullptr;
  const char* beta = nullptr;
};
constexpr std::array<ActivationForm, 15> kActivations{{{"Relu"},
                                                       {"Sigmoid"},
                                                       {"Tanh"},
                                                       {"LeakyRelu", "alpha"},
                                                       {"Elu", "alpha"},
                                                       {"Selu", "alpha", "gamma"},
                                                       {"Softsign"},
                                                       {"Softplus"},
                                                       {"Clip"},
                                                       {"HardSigmoid", "alpha", "beta"},
                                                       {"ThresholdedRelu", "alpha"},
                                                       {"Gelu"},
                                                       {"Gelu"},
                                                       {"HardSwish"},
                                                       {"Swish", "alpha"}}};

int spatial_rank(const ir::Value* x) {
  const int rank = x->rank() - 2;
  require(rank >= 1 && rank <= 3, ErrorKind::invalid_argument, "the tensor '", x->name, "' is ", ir::text(x->type),
          "; N, C and 1 to 3 spatial dimensions were expected");
  return rank;
}

// Attributes of a window over `rank` spatial dims, with one number of padding per dim meaning both ends.
ir::Attributes window(int rank, const Shape& strides, Shape padding, const Shape& dilations) {
  ir::Attributes attributes;
  const auto n = static_cast<std::size_t>(rank);
  const auto set = [&](const char* name, const Shape& list) {
    if (list.empty()) return;
    require(list.size() == n, ErrorKind::invalid_argument, name, " has ", list.size(), " numbers, ", n, " spatial dimensions need ", n);
    attributes.set(name, list);
  };
  set("strides", strides);
  set("dilations", dilations);
  if (padding.size() == n) padding.insert(padding.end(), padding.begin(), padding.begin() + rank);
  require(padding.empty() || padding.size() == 2 * n, ErrorKind::invalid_argument, "padding has ", padding.size(), " numbers, ", n, " or ",
          2 * n, " were expected");
  if (!padding.empty()) attributes.set("pads", std::move(padding));
  return attributes;
}

ir::Attributes convolution_attributes(const ir::Value* x, const ConvolutionOptions& o) {
  ir::Attributes attributes = window(spatial_rank(x), o.strides, o.padding, o.dilations);
  attributes.set("group", o.groups);
  if (!o.output_padding.empty()) attributes.set("output_padding", o.output_padding);
  return attributes;
}

std::int64_t flag(bool value) { return value ? 1 : 0; }

}  // namespace

NetworkTensor Network::convolution(NetworkTensor x, NetworkTensor kernel, NetworkTensor bias, const ConvolutionOptions& options) {
  require(options.output_padding.empty(), ErrorKind::invalid_argument, "output_padding belongs to deconvolution");
  ir::Value* image = impl_->need(x, "the convolution's input");
  return impl_->one("Conv", {image, impl_->need(kernel, "the kernel"), impl_->value(bias)}, convolution_attributes(image, options));
}

NetworkTensor Network::deconvolution(NetworkTensor x, NetworkTensor kernel, NetworkTensor bias, const ConvolutionOptions& options) {
  ir::Value* image = impl_->need(x, "the deconvolution's input");
  return impl_->one("ConvTranspose", {image, impl_->need(kernel, "the kernel"), impl_->value(bias)},
                    convolution_attributes(image, options));
}

NetworkTensor Network::pooling(Pooling kind, NetworkTensor x, const Shape& window_shape, const PoolingOptions& o) {
  ir::Value* image = impl_->need(x, "the pooling's input");
  ir::Attributes attributes = window(spatial_rank(image), o.strides, o.padding, o.dilations);
  attributes.set("kernel_shape", window_shape);
  attributes.set("ceil_mode", flag(o.ceil_mode));
  require(!o.count_padding || kind == Pooling::average, ErrorKind::invalid_argument, "count_padding belongs to average pooling");
  if (kind == Pooling::average) attributes.set("count_include_pad", flag(o.count_padding));
  return impl_->one(pick(kPooling, kind), {image}, std::move(attributes));
}

NetworkTensor Network::matrix_multiply(NetworkTensor a, NetworkTensor b, bool transpose_a, bool transpose_b) {
  const auto operand = [&](NetworkTensor t, bool transpose) {
    ir::Value* v = impl_->need(t, "an operand of the product");
    if (!transpose) return v;
    require(v->rank() >= 2, ErrorKind::invalid_argument, "an operand of rank ", v->rank(), " cannot be transposed");
    Shape order(static_cast<std::size_t>(v->rank()));
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return impl_->value(impl_->one("Transpose", {v}, {{"perm", std::move(order)}}));
  };
  ir::Value* left = operand(a, transpose_a);
  return impl_->one("MatMul", {left, operand(b, transpose_b)});
}

NetworkTensor Network::elementwise(Elementwise op, NetworkTensor a, NetworkTensor b) {
  ir::Value *left = impl_->need(a, "the left operand"), *right = impl_->need(b, "the right operand");
  ir::Attributes attributes;
  if (op == Elementwise::mod && is_float(left->dtype())) attributes.set("fmod", 1);  // ONNX has no other remainder of floats
  return impl_->one(pick(kElementwise, op), {left, right}, std::move(attributes));
}

NetworkTensor Network::unary(Unary op, NetworkTensor x) { return impl_->one(pick(kUnary, op), {impl_->need(x, "the operand")}); }

NetworkTensor Network::activation(Activation kind, NetworkTensor x, std::optional<float> alpha, std::optional<float> beta) {
  require(static_cast<std::size_t>(kind) < kActivations.size(), ErrorKind::invalid_argument, "there is no such activation");
  const ActivationForm& form = kActivations[static_cast<std::size_t>(kind)];
  ir::Value* value = impl_->need(x, "the activation's input");
  if (kind == Activation::clip) {
    ir::Value* low = alpha ? impl_->scalar(value->dtype(), *alpha) : nullptr;
    return impl_->one("Clip", {value, low, beta ? impl_->scalar(value->dtype(), *beta) : nullptr});
  }
  require((!alpha || form.alpha) && (!beta || form.beta), ErrorKind::invalid_argument, form.op, " has no ",
          alpha && !form.alpha ? "alpha" : "beta");
  ir::Attributes attributes;
  if (alpha) attributes.set(form.alpha, *alpha);
  if (beta) attributes.set(form.beta, *beta);
  if (kind == Activation::gelu_tanh) attributes.set("approximate", "tanh");
  return impl_->one(form.op, {value}, std::move(attributes));
}

NetworkTensor Network::softmax(NetworkTensor x, std::int64_t axis) {
  return impl_->one("Softmax", {impl_->need(x, "the operand")}, {{"axis", axis}});
}

NetworkTensor Network::reduce(Reduce op, NetworkTensor x, const Shape& axes, bool keep_dims) {
  ir::Value* value = impl_->need(x, "the operand");
  return impl_->one(pick(kReduce, op), {value, axes.empty() ? nullptr : impl_->ints(axes)}, {{"keepdims", flag(keep_dims)}});
}

Network::TopK Network::top_k(NetworkTensor x, std::int64_t k, std::int64_t axis, bool largest) {
  ir::Value* value = impl_->need(x, "the operand");
  const Tensors results = impl_->append("TopK", {value, impl_->ints({k})}, {{"axis", axis}, {"largest", flag(largest)}}, 2);
  return {results[0], results[1]};
}

NetworkTensor Network::gather(NetworkTensor data, NetworkTensor indices, std::int64_t axis) {
  return impl_->one("Gather", {impl_->need(data, "the data"), impl_->need(indices, "the indices")}, {{"axis", axis}});
}

NetworkTensor Network::shuffle(NetworkTensor x, const Shape& first, const std::optional<Shape>& dims, const Shape& second) {
  NetworkTensor result = x;
  if (!first.empty()) result = impl_->one("Transpose", {impl_->need(result, "the operand")}, {{"perm", first}});
  if (dims) result = impl_->one("Reshape", {impl_->need(result, "the operand"), impl_->ints(*dims)});
  if (!second.empty()) result = impl_->one("Transpose", {impl_->need(result, "the operand")}, {{"perm", second}});
  impl_->need(result, "the operand");
  return result;
}

NetworkTensor Network::slice(NetworkTensor x, const Shape& start, const Shape& size, const Shape& stride) {
  ir::Value* value = impl_->need(x, "the operand");
  const auto rank = static_cast<std::size_t>(value->rank());
  require(start.size() == rank && size.size() == rank && (stride.empty() || stride.size() == rank), ErrorKind::invalid_argument,
          "slice: start, size and stride need ", rank, " entries for ", ir::text(value->type), ", they have ", start.size(), ", ",
          size.size(), " and ", stride.size());
  constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min(), kHigh = std::numeric_limits<std::int64_t>::max();
  Shape end(rank), axes(rank), steps = stride.empty() ? Shape(rank, 1) : stride;
  std::iota(axes.begin(), axes.end(), 0);
  for (std::size_t d = 0; d < rank; ++d) {
    require(start[d] >= 0 && start[d] <= ir::kUnbounded && size[d] >= -1 && size[d] <= ir::kUnbounded && steps[d] != 0 &&
                steps[d] <= ir::kUnbounded && steps[d] >= -ir::kUnbounded,
            ErrorKind::invalid_argument, "slice: dimension ", d, " has start ", start[d], ", size ", size[d], ", stride ", steps[d]);
    std::int64_t length = 0;
    const bool overflow = __builtin_mul_overflow(size[d], steps[d], &length) || __builtin_add_overflow(start[d], length, &end[d]);
    if (size[d] == -1 || overflow)
      end[d] = steps[d] > 0 ? kHigh : kLow;
    else if (end[d] < 0)
      end[d] = kLow;  // a negative end would count from the back
  }
  return impl_->one("Slice", {value, impl_->ints(start), impl_->ints(end), impl_->ints(axes), impl_->ints(steps)});
}

NetworkTensor Network::concatenation(const Tensors& parts, std::int64_t axis) {
  std::vector<ir::Value*> values;
  for (NetworkTensor t : parts) values.push_back(impl_->need(t, "a part of the concatenation"));
  return impl_->one("Concat", std::move(values), {{"axis", axis}});
}

namespace {
ir::Attributes resize_attributes(const ResizeOptions& o) {
  return {{"mode", o.mode},
          {"coordinate_transformation_mode", o.coordinates},
          {"nearest_mode", o.nearest},
          {"cubic_coeff_a", o.cubic_coefficient}};
}
}  // namespace

NetworkTensor Network::resize(NetworkTensor x, const Shape& sizes, const ResizeOptions& options) {
  ir::Value* value = impl_->need(x, "the operand");
  return impl_->one("Resize", {value, nullptr, nullptr, impl_->ints(sizes)}, resize_attributes(options));
}

NetworkTensor Network::resize_by(NetworkTensor x, const std::vector<float>& scales, const ResizeOptions& options) {
  ir::Value* value = impl_->need(x, "the operand");
  Tensor list(DType::f32, {static_cast<std::int64_t>(scales.size())});
  std::copy(scales.begin(), scales.end(), list.mutable_data<float>());
  return impl_->one("Resize", {value, nullptr, impl_->graph->add_constant(std::move(list))}, resize_attributes(options));
}

NetworkTensor Network::normalization(NetworkTensor x, NetworkTensor scale, NetworkTensor bias, const NormalizationOptions& options) {
  ir::Value *value = impl_->need(x, "the operand"), *factor = impl_->need(scale, "the scale");
  if (options.groups == 0)
    return impl_->one("LayerNormalization", {value, factor, impl_->value(bias)}, {{"axis", options.axis}, {"epsilon", options.epsilon}});
  return impl_->one("GroupNormalization", {value, factor, impl_->need(bias, "the bias")},
                    {{"num_groups", options.groups}, {"epsilon", options.epsilon}});
}

NetworkTensor Network::select(NetworkTensor condition, NetworkTensor yes, NetworkTensor no) {
  return impl_->one("Where", {impl_->need(condition, "the condition"), impl_->need(yes, "an operand"),
                              impl_->need(no, "an operand")});
}

NetworkTensor Network::shape(NetworkTensor x) { return impl_->one("Shape", {impl_->need(x, "the operand")}); }

NetworkTensor Network::cast(NetworkTensor x, DType to) {
  return impl_->one("Cast", {impl_->need(x, "the operand")}, {{"to", ops::onnx_number(to)}});
}

NetworkTensor Network::quantize(NetworkTensor x, NetworkTensor scale, NetworkTensor zero_point, std::int64_t axis) {
  return impl_->one("QuantizeLinear",
                    {impl_->need(x, "the operand"), impl_->need(scale, "the scale"), impl_->value(zero_point)},
                    {{"axis", axis}});
}

NetworkTensor Network::dequantize(NetworkTensor x, NetworkTensor scale, NetworkTensor zero_point, std::int64_t axis) {
  return impl_->one("DequantizeLinear",
                    {impl_->need(x, "the operand"), impl_->need(scale, "the scale"), impl_->value(zero_point)},
                    {{"axis", axis}});
}

}  // namespace tenfold
