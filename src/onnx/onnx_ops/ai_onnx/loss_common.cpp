// The loss of labels as a gather along the classes, a product with the weights of the labels, and a mean by them.
#include "onnx_ops/ai_onnx/loss_common.h"

#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

Value* reduced(OnnxImport& call, const char* op, Value* value) { return one(call, op, {value}, {{"keepdims", 0}}); }

}  // namespace

Value* negative_log_likelihood(OnnxImport& call, Value* log_probabilities, Value* labels, Value* weights) {
  const std::string reduction = call.attributes.string("reduction", "mean");
  validate(reduction == "mean" || reduction == "sum" || reduction == "none", "reduction is '", reduction, "', mean, sum or none expected");
  const DType type = log_probabilities->dtype();
  Value* ignored = nullptr;
  if (call.attributes.has("ignore_index")) {
    const auto index = static_cast<double>(call.attributes.integer("ignore_index"));
    ignored = one(call, "Equal", {labels, call.scalar(labels->dtype(), index)});
    labels = one(call, "Where", {ignored, call.scalar(labels->dtype(), 0), labels});
  }
  Value* loss = one(call, "GatherElements", {log_probabilities, unsqueezed(call, labels, {1})}, {{"axis", 1}});
  loss = one(call, "Neg", {one(call, "Squeeze", {loss, call.ints({1})})});
  Value* by_label = weights ? one(call, "Gather", {weights, labels}, {{"axis", 0}}) : nullptr;
  if (ignored) by_label = one(call, "Where", {ignored, call.scalar(type, 0), by_label ? by_label : call.scalar(type, 1)});
  if (by_label) loss = one(call, "Mul", {loss, by_label});
  if (reduction == "none") return loss;
  if (reduction == "sum" || by_label) loss = reduced(call, "ReduceSum", loss);
  else return reduced(call, "ReduceMean", loss);
  return reduction == "sum" ? loss : one(call, "Div", {loss, reduced(call, "ReduceSum", by_label)});
}

}  // namespace tenfold::onnx_ops
