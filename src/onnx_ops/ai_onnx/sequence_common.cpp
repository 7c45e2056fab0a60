// Following sequences to where they are made.
#include "onnx_ops/ai_onnx/sequence_common.h"

namespace tenfold::onnx_ops {

std::vector<Value*> elements(OnnxImport& call, int i) {
  const Value* value = call.need(i);
  while (value->producer && value->producer->op() == "Identity") value = value->producer->in(0);
  require(value->producer && value->producer->op() == "Sequence", ErrorKind::unsupported,
          "what the sequence holds is not known when the model is read: sequences may not be inputs, nor enter loops or branches of an If");
  return value->producer->inputs;
}

std::int64_t number(OnnxImport& call, int i, std::int64_t otherwise) {
  if (!call.in(i)) return otherwise;
  const auto& contents = call.in(i)->contents;
  require(contents && contents->size() == 1 && (*contents)[0].is_constant(), ErrorKind::unsupported,
          "operand ", i, " must be known when the model is read");
  return (*contents)[0].constant();
}

std::size_t place(OnnxImport& call, int i, std::int64_t size, std::int64_t otherwise) {
  const std::int64_t given = number(call, i, otherwise), at = given < 0 ? given + size : given;
  require_sound(at >= 0 && at < size, "place ", given, " in a sequence of ", size);
  return static_cast<std::size_t>(at);
}

}  // namespace tenfold::onnx_ops
