// Reads TensorProto, SequenceProto, MapProto and OptionalProto files.
#include "onnx_import/tensor_file.h"

#include "base/check.h"
#include "onnx_import/read_messages.h"
#include "onnx_import/tensor_proto.h"

namespace tenfold::onnx_import {
namespace {

template <class Read>
auto read_file(const std::filesystem::path& path, Read&& read) {
  const auto file = MappedFile::read(path.string());
  try {
    return read(file->bytes());
  } catch (Error& error) {
    throw error.within(path.string());
  }
}

ops::RuntimeValue map(const onnx::MapProto& proto);

ops::RuntimeValue sequence(const onnx::SequenceProto& proto) {
  require(!proto.other_values, ErrorKind::unsupported, "a sequence of sparse tensors or optionals");
  std::vector<ops::RuntimeValue> elements;
  for (const auto& tensor : proto.tensor_values) elements.push_back(to_tensor(tensor, nullptr));
  for (const auto& inner : proto.sequence_values) elements.push_back(sequence(inner));
  for (const auto& inner : proto.map_values) elements.push_back(map(inner));
  return ops::RuntimeValue::sequence(std::move(elements));
}

ops::RuntimeValue map(const onnx::MapProto& proto) {
  const bool strings = !proto.string_keys.empty();
  const auto count = static_cast<std::int64_t>(strings ? proto.string_keys.size() : proto.keys.size());
  Tensor keys = strings ? Tensor::strings({count}, proto.string_keys) : Tensor(DType::i64, {count});
  if (!strings) std::copy(proto.keys.begin(), proto.keys.end(), keys.mutable_data<std::int64_t>());
  return ops::RuntimeValue::map(std::move(keys), sequence(proto.values).elements());
}

ops::RuntimeValue optional(const onnx::OptionalProto& proto) {
  require(!proto.other_value, ErrorKind::unsupported, "an optional of a sparse tensor or an optional");
  if (proto.sequence_value) return sequence(*proto.sequence_value);
  if (proto.map_value) return map(*proto.map_value);
  return proto.tensor_value ? ops::RuntimeValue(to_tensor(*proto.tensor_value, nullptr)) : ops::RuntimeValue();
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
