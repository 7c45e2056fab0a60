// The numbers are the standard's.
#include "onnx_export/write_messages.h"

#include <memory>

#include "ops/onnx_dtype.h"

namespace tenfold::onnx_export {
namespace {

constexpr int kInt = 2, kString = 3;  // AttributeProto.AttributeType
constexpr int kExternal = 1;   // TensorProto.DataLocation.EXTERNAL
constexpr std::size_t kPage = 4096;

Rope integer_attribute(const std::string& name, std::int64_t value) {
  Rope m;
  put_text(m, 1, name), put_integer(m, 3, value), put_integer(m, 20, kInt);
  return m;
}

Rope text_attribute(const std::string& name, const std::string& value) {
  Rope m;
  put_text(m, 1, name), put_text(m, 4, value), put_integer(m, 20, kString);
  return m;
}

Rope entry(const char* key, const std::string& value) {
  Rope m;
  put_text(m, 1, key), put_text(m, 2, value);
  return m;
}

void put_aside(Rope& m, Rope::Bytes bytes, std::shared_ptr<const void> owner, DataFile& aside) {
  if (const std::size_t beyond = aside.bytes.size() % kPage) aside.bytes.add(std::string(kPage - beyond, '\0'));   // readers map it
  put_message(m, 13, entry("location", aside.name));
  put_message(m, 13, entry("offset", std::to_string(aside.bytes.size())));
  put_message(m, 13, entry("length", std::to_string(bytes.size())));
  put_integer(m, 14, kExternal);
  aside.bytes.refer(bytes, std::move(owner));
}

}  // namespace

Rope node_proto(const NewNode& node) {
  Rope m;
  for (const std::string& name : node.inputs) put_text(m, 1, name);
  for (const std::string& name : node.outputs) put_text(m, 2, name);
  put_text(m, 3, node.name), put_text(m, 4, node.op);
  for (const auto& [attribute, value] : node.attributes) put_message(m, 5, integer_attribute(attribute, value));
  for (const auto& [attribute, value] : node.texts) put_message(m, 5, text_attribute(attribute, value));
  if (!node.domain.empty()) put_text(m, 7, node.domain);
  return m;
}

Rope node_parts(const NodeForm& form) {
  Rope m;
  for (const std::string& name : form.inputs) put_text(m, 1, name);
  if (!form.op.empty()) put_text(m, 4, form.op);
  for (const auto& [attribute, value] : form.attributes) put_message(m, 5, integer_attribute(attribute, value));
  for (const auto& [attribute, value] : form.texts) put_message(m, 5, text_attribute(attribute, value));
  return m;
}

Rope tensor_proto(const std::string& name, const Tensor& tensor, DataFile* aside) {
  Rope m;
  for (const std::int64_t extent : tensor.shape()) put_integer(m, 1, extent);
  put_integer(m, 2, ops::onnx_number(tensor.dtype())), put_text(m, 8, name);
  put_data(m, tensor, aside);
  return m;
}

void put_data(Rope& m, const Tensor& tensor, DataFile* aside) {
  const auto owner = std::make_shared<const Tensor>(tensor);
  const Rope::Bytes bytes(static_cast<const std::byte*>(owner->raw()), static_cast<std::size_t>(owner->bytes()));
  if (aside && bytes.size() >= kAside) {
    put_aside(m, bytes, owner, *aside);
  } else {
    Rope raw;
    raw.refer(bytes, owner);
    put_message(m, 9, std::move(raw));
  }
}

Rope value_info_proto(const std::string& name, const Tensor& tensor) {
  Rope shape;
  for (const std::int64_t extent : tensor.shape()) {
    Rope dim;
    put_integer(dim, 1, extent), put_message(shape, 1, std::move(dim));
  }
  Rope tensor_type, type, m;
  put_integer(tensor_type, 1, ops::onnx_number(tensor.dtype())), put_message(tensor_type, 2, std::move(shape));
  put_message(type, 1, std::move(tensor_type));
  put_text(m, 1, name), put_message(m, 2, std::move(type));
  return m;
}

Rope opset_proto(const std::string& domain, int version) {
  Rope m;
  if (!domain.empty()) put_text(m, 1, domain);
  put_integer(m, 2, version);
  return m;
}

}  // namespace tenfold::onnx_export
