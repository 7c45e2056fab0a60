// The messages of the ONNX standard as plain data, with the standard's names of messages and fields.
//
// Fields that mean nothing here (doc strings, metadata, declared types of inner values) are left out. Raw data lie in the file, which
// outlives the messages; all else is copied. Enumerations are integers, so that a number which nobody knows is told and not dropped.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "onnx_import/wire.h"

namespace tenfold::onnx_import::onnx {

// A message that may be missing, on the heap: it may hold its own kind. Copies are deep.
template <class T>
class Box {
 public:
  Box() = default;
  Box(const Box& other) : held_(other.held_ ? std::make_unique<T>(*other.held_) : nullptr) {}
  Box(Box&&) noexcept = default;
  Box& operator=(Box other) noexcept { held_ = std::move(other.held_); return *this; }
  explicit operator bool() const { return held_ != nullptr; }
  const T& operator*() const { return *held_; }
  const T* operator->() const { return held_.get(); }
  T& operator*() { return *held_; }
  T* operator->() { return held_.get(); }
  T& edit() {   // makes it if it is missing
    if (!held_) held_ = std::make_unique<T>();
    return *held_;
  }
  void reset() { held_.reset(); }

 private:
  std::unique_ptr<T> held_;
};

struct StringStringEntryProto { std::string key, value; };

struct TensorProto {
  std::vector<std::int64_t> dims;
  std::int64_t data_type = 0;                       // see ops/onnx_dtype.h
  bool segment = false;                             // whether there is one
  std::vector<float> float_data;
  std::vector<std::int32_t> int32_data;
  std::vector<std::string> string_data;
  std::vector<std::int64_t> int64_data;
  std::string name;
  std::optional<Bytes> raw_data;
  std::vector<double> double_data;
  std::vector<std::uint64_t> uint64_data;
  std::vector<StringStringEntryProto> external_data;
  std::int64_t data_location = 0;                   // 0 in this message, 1 external
};

struct SparseTensorProto {
  Box<TensorProto> values, indices;                 // on the heap, so that a message without them is small
  std::vector<std::int64_t> dims;
  const std::string& name() const {
    static const std::string none;
    return values ? values->name : none;
  }
};

struct TensorShapeProto {
  struct Dimension {   // one of both at most
    std::optional<std::int64_t> dim_value;
    std::string dim_param;
  };
  std::vector<Dimension> dim;
};

// Not inside of TypeProto: an optional of a nested class with initializers cannot be filled there by every compiler.
struct TensorTypeProto {
  std::int64_t elem_type = 0;
  std::optional<TensorShapeProto> shape;
};
struct TypeProto {   // one of them at most
  using Tensor = TensorTypeProto;
  std::optional<Tensor> tensor_type;
  Box<TypeProto> sequence_type, optional_type;      // of their elements
  Box<TypeProto> map_type;                          // of its values
  std::int64_t key_type = 0;                        // of its keys, as elem_type
  bool opaque_type = false, sparse_tensor_type = false;
};

struct ValueInfoProto {
  std::string name;
  TypeProto type;
};

struct GraphProto;

struct AttributeProto {
  std::string name;
  std::optional<float> f;
  std::optional<std::int64_t> i;
  std::optional<std::string> s;
  Box<TensorProto> t;
  Box<GraphProto> g;
  std::vector<float> floats;
  std::vector<std::int64_t> ints;
  std::vector<std::string> strings;
  std::vector<TensorProto> tensors;
  std::vector<GraphProto> graphs;
  Box<TypeProto> tp;
  std::vector<TypeProto> type_protos;
  std::int64_t type = 0;                            // 1 f, 2 i, 3 s, 4 t, 5 g, 6-10 their lists, 11-12 sparse, 13-14 types
  std::string ref_attr_name;                        // in a function body: stands for the caller's attribute of this name
  Box<SparseTensorProto> sparse_tensor;
  std::vector<SparseTensorProto> sparse_tensors;
};

struct NodeProto {
  std::vector<std::string> input, output;
  std::string name, op_type;
  std::vector<AttributeProto> attribute;
  std::string domain, overload;
};

struct GraphProto {
  std::vector<NodeProto> node;
  std::string name;
  std::vector<TensorProto> initializer;
  std::vector<ValueInfoProto> input, output;
  std::vector<SparseTensorProto> sparse_initializer;
};

struct OperatorSetIdProto {
  std::string domain;
  std::int64_t version = 0;
};

struct FunctionProto {
  std::string name;
  std::vector<std::string> input, output;
  std::vector<std::string> attribute;               // names without a default
  std::vector<NodeProto> node;
  std::vector<OperatorSetIdProto> opset_import;
  std::string domain;
  std::vector<AttributeProto> attribute_proto;      // names with a default
  std::string overload;
};

struct ModelProto {
  std::int64_t ir_version = 0;
  std::string producer_name, producer_version;
  Box<GraphProto> graph;
  std::vector<OperatorSetIdProto> opset_import;
  std::vector<FunctionProto> functions;
};

// Values of sequence and optional type, as test data files hold them.
struct MapProto;
struct SequenceProto {   // one of the lists at most
  std::vector<TensorProto> tensor_values;
  std::vector<SequenceProto> sequence_values;
  std::vector<MapProto> map_values;
  bool other_values = false;                        // whether it has elements of another kind
};

struct MapProto {   // of both kinds of keys one at most
  std::int64_t key_type = 0;
  std::vector<std::int64_t> keys;
  std::vector<std::string> string_keys;
  SequenceProto values;
};

struct OptionalProto {
  Box<TensorProto> tensor_value;
  Box<SequenceProto> sequence_value;
  Box<MapProto> map_value;
  bool other_value = false;
};

}  // namespace tenfold::onnx_import::onnx
