// Reads TensorProto, SequenceProto and OptionalProto files.
#include "onnx_import/tensor_file.h"

#include "base/check.h"
#include "onnx_import/read_messages.h"
#include "onnx_import/tensor_proto.h"

namespace tenfold::onnx_import {
namespace {

template <class Read>
auto read_file(const std::filesystem::path& path, Read&& read) {
  const auto file = MappedFile::open(path.string());
  try {
    return read(file->bytes());
  } catch (Error& error) {
    throw error.within(path.string());
  }
}

ir::HostObject sequence(const onnx::SequenceProto& proto) {
  require(!proto.other_values, ErrorKind::unsupported, "a sequence of something else than tensors");
  ir::HostObject object;
  for (const auto& tensor : proto.tensor_values) object.elements.push_back(to_tensor(tensor, nullptr));
  return object;
}

ir::HostObject optional(const onnx::OptionalProto& proto) {
  require(!proto.other_value, ErrorKind::unsupported, "an optional of something else than tensors and sequences of them");
  if (proto.sequence_value) return sequence(*proto.sequence_value);
  ir::HostObject object;
  if (proto.tensor_value) object.elements.push_back(to_tensor(*proto.tensor_value, nullptr));
  return object;
}

}  // namespace

Tensor read_tensor_proto(const std::filesystem::path& path) {
  return read_file(path, [](Bytes bytes) { return to_tensor(read_tensor(bytes), nullptr); });
}

ops::RuntimeValue read_value(const std::filesystem::path& path, ir::ValueType::Kind kind) {
  using Kind = ir::ValueType::Kind;
  if (kind == Kind::tensor) return read_tensor_proto(path);
  if (kind == Kind::sequence) return read_file(path, [](Bytes bytes) { return sequence(read_sequence(bytes)); });
  return read_file(path, [](Bytes bytes) { return optional(read_optional(bytes)); });
}

}  // namespace tenfold::onnx_import
