// Following sequences to where they are made.
#include "onnx_ops/ai_onnx/sequence_common.h"

namespace tenfold::onnx_ops {

std::optional<std::vector<Value*>> elements(OnnxImport& call, int i) {
  const Value* value = call.given(i);
  while (value->producer && value->producer->op() == "Identity") value = value->producer->in(0);
  if (!value->producer || value->producer->op() != "Sequence") return std::nullopt;
  return value->producer->inputs;
}

std::optional<std::int64_t> number(OnnxImport& call, int i, std::int64_t otherwise) {
  if (!call.in(i)) return otherwise;
  const auto& contents = call.in(i)->contents;
  if (!contents || contents->size() != 1 || !(*contents)[0].is_constant()) return std::nullopt;
  return (*contents)[0].constant();
}

std::optional<std::size_t> place(OnnxImport& call, int i, std::int64_t size, std::int64_t otherwise) {
  const std::optional<std::int64_t> given = number(call, i, otherwise);
  if (!given) return std::nullopt;
  const std::int64_t at = *given < 0 ? *given + size : *given;
  check_shape(at >= 0 && at < size, "place ", *given, " in a sequence of ", size);
  return static_cast<std::size_t>(at);
}

std::vector<Value*> as_it_is(OnnxImport& call, Attributes attributes) {
  for (const auto& [key, value] : call.attributes) attributes.set(key, value);
  return call.add(call.op(), call.inputs, std::move(attributes));
}

}  // namespace tenfold::onnx_ops
