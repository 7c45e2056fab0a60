// Reads TensorProto, SequenceProto and OptionalProto files.
#include "onnx_import/tensor_file.h"

#include <onnx_subset.pb.h>

#include "base/check.h"
#include "onnx_import/parse.h"
#include "onnx_import/tensor_proto.h"

namespace tenfold::onnx_import {
namespace {

template <class Message, class Read>
auto read_message(const std::filesystem::path& path, const char* what, Read&& read) {
  const auto file = MappedFile::open(path.string());
  try {
    Message message;
    // An OptionalProto without value may be an empty file.
    if (!file->bytes().empty() || !std::is_same_v<Message, onnx::OptionalProto>) parse(file->bytes(), message, what);
    return read(message);
  } catch (Error& error) {
    throw error.within(path.string());
  }
}

ir::HostObject sequence(onnx::SequenceProto& proto) {
  require(proto.sequence_values_size() == 0, ErrorKind::unsupported, "a sequence of sequences");
  ir::HostObject object;
  for (auto& tensor : *proto.mutable_tensor_values()) object.elements.push_back(to_tensor(tensor, nullptr));
  return object;
}

}  // namespace

Tensor read_tensor_proto(const std::filesystem::path& path) {
  return read_message<onnx::TensorProto>(path, "a TensorProto", [](onnx::TensorProto& proto) { return to_tensor(proto, nullptr); });
}

ops::RuntimeValue read_value(const std::filesystem::path& path, ir::ValueType::Kind kind) {
  using Kind = ir::ValueType::Kind;
  if (kind == Kind::tensor) return read_tensor_proto(path);
  if (kind == Kind::sequence) return read_message<onnx::SequenceProto>(path, "a SequenceProto", sequence);
  return read_message<onnx::OptionalProto>(path, "an OptionalProto", [](onnx::OptionalProto& proto) {
    if (proto.has_sequence_value()) return sequence(*proto.mutable_sequence_value());
    ir::HostObject object;
    if (proto.has_tensor_value()) object.elements.push_back(to_tensor(*proto.mutable_tensor_value(), nullptr));
    return object;
  });
}

}  // namespace tenfold::onnx_import
