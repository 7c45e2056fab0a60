// Messages to their wire form, for tests: what the reader must read back. Field numbers stand here once more, apart from the reader's.
#pragma once

#include <bit>
#include <string>

#include "onnx_import/messages.h"

namespace tenfold::onnx_import {

class Writer {
 public:
  Writer& varint(int field, std::uint64_t value) {
    tag(field, 0);
    number(value);
    return *this;
  }
  Writer& bytes(int field, std::string_view value) {
    tag(field, 2);
    number(value.size());
    text_ += value;
    return *this;
  }
  Writer& f32(int field, float value) {
    tag(field, 5);
    word(std::bit_cast<std::uint32_t>(value), 4);
    return *this;
  }
  Writer& strings(int field, const std::vector<std::string>& values) {
    for (const std::string& value : values) bytes(field, value);
    return *this;
  }
  Writer& unless_empty(int field, const std::string& value) { return value.empty() ? *this : bytes(field, value); }
  Writer& unless_zero(int field, std::int64_t value) { return value == 0 ? *this : varint(field, static_cast<std::uint64_t>(value)); }
  template <class T>
  Writer& varints(int field, const std::vector<T>& values) {
    Writer packed;
    for (const T value : values) packed.number(static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
    return values.empty() ? *this : bytes(field, packed.text_);
  }
  Writer& floats(int field, const std::vector<float>& values) {
    Writer packed;
    for (const float value : values) packed.word(std::bit_cast<std::uint32_t>(value), 4);
    return values.empty() ? *this : bytes(field, packed.text_);
  }
  Writer& doubles(int field, const std::vector<double>& values) {
    Writer packed;
    for (const double value : values) packed.word(std::bit_cast<std::uint64_t>(value), 8);
    return values.empty() ? *this : bytes(field, packed.text_);
  }
  template <class T>
  Writer& messages(int field, const std::vector<T>& values) {
    for (const T& value : values) bytes(field, serialized(value));
    return *this;
  }
  template <class T>
  Writer& message(int field, const onnx::Box<T>& value) {
    return value ? bytes(field, serialized(*value)) : *this;
  }
  const std::string& text() const { return text_; }

 private:
  void tag(int field, unsigned wire) { number(static_cast<std::uint64_t>(field) << 3 | wire); }
  void number(std::uint64_t value) {
    for (; value >= 128; value >>= 7) text_.push_back(static_cast<char>(value | 128));
    text_.push_back(static_cast<char>(value));
  }
  void word(std::uint64_t value, int bytes) {
    for (; bytes > 0; --bytes, value >>= 8) text_.push_back(static_cast<char>(value));
  }
  std::string text_;
};

namespace onnx {   // where templates above find them

std::string serialized(const GraphProto& m);

inline std::string serialized(const StringStringEntryProto& m) { return Writer().bytes(1, m.key).bytes(2, m.value).text(); }
inline std::string serialized(const TensorProto& m) {
  Writer w;
  w.varints(1, m.dims).unless_zero(2, m.data_type).floats(4, m.float_data).varints(5, m.int32_data).strings(6, m.string_data);
  w.varints(7, m.int64_data).unless_empty(8, m.name).doubles(10, m.double_data).varints(11, m.uint64_data);
  if (m.segment) w.bytes(3, Writer().varint(1, 1).text());
  if (m.raw_data) w.bytes(9, {reinterpret_cast<const char*>(m.raw_data->data()), m.raw_data->size()});
  return w.messages(13, m.external_data).unless_zero(14, m.data_location).text();
}
inline std::string serialized(const SparseTensorProto& m) {
  return Writer().message(1, m.values).message(2, m.indices).varints(3, m.dims).text();
}
inline std::string serialized(const TensorShapeProto::Dimension& m) {
  return m.dim_value ? Writer().varint(1, static_cast<std::uint64_t>(*m.dim_value)).text() : Writer().unless_empty(2, m.dim_param).text();
}
inline std::string serialized(const TypeProto& m) {
  Writer w;
  if (m.tensor_type) {
    Writer tensor;
    tensor.unless_zero(1, m.tensor_type->elem_type);
    if (m.tensor_type->shape) tensor.bytes(2, Writer().messages(1, m.tensor_type->shape->dim).text());
    w.bytes(1, tensor.text());
  }
  if (m.sequence_type) w.bytes(4, Writer().bytes(1, serialized(*m.sequence_type)).text());
  if (m.optional_type) w.bytes(9, Writer().bytes(1, serialized(*m.optional_type)).text());
  return w.text();
}
inline std::string serialized(const ValueInfoProto& m) { return Writer().bytes(1, m.name).bytes(2, serialized(m.type)).text(); }
inline std::string serialized(const AttributeProto& m) {
  Writer w;
  w.bytes(1, m.name).message(5, m.t).message(6, m.g).floats(7, m.floats).varints(8, m.ints).strings(9, m.strings);
  if (m.f) w.f32(2, *m.f);
  if (m.i) w.varint(3, static_cast<std::uint64_t>(*m.i));
  if (m.s) w.bytes(4, *m.s);
  w.messages(10, m.tensors).messages(11, m.graphs).message(14, m.tp).messages(15, m.type_protos).unless_zero(20, m.type);
  return w.unless_empty(21, m.ref_attr_name).message(22, m.sparse_tensor).messages(23, m.sparse_tensors).text();
}
inline std::string serialized(const NodeProto& m) {
  Writer w;
  w.strings(1, m.input).strings(2, m.output).unless_empty(3, m.name).bytes(4, m.op_type).messages(5, m.attribute);
  return w.unless_empty(7, m.domain).unless_empty(8, m.overload).text();
}
inline std::string serialized(const GraphProto& m) {
  Writer w;
  w.messages(1, m.node).bytes(2, m.name).messages(5, m.initializer).messages(11, m.input).messages(12, m.output);
  return w.messages(15, m.sparse_initializer).text();
}
inline std::string serialized(const OperatorSetIdProto& m) {
  return Writer().bytes(1, m.domain).varint(2, static_cast<std::uint64_t>(m.version)).text();
}
inline std::string serialized(const FunctionProto& m) {
  Writer w;
  w.bytes(1, m.name).strings(4, m.input).strings(5, m.output).strings(6, m.attribute).messages(7, m.node).messages(9, m.opset_import);
  return w.bytes(10, m.domain).messages(11, m.attribute_proto).unless_empty(13, m.overload).text();
}
inline std::string serialized(const ModelProto& m) {
  Writer w;
  w.unless_zero(1, m.ir_version).unless_empty(2, m.producer_name).unless_empty(3, m.producer_version).message(7, m.graph);
  return w.messages(8, m.opset_import).messages(25, m.functions).text();
}

}  // namespace onnx
}  // namespace tenfold::onnx_import
