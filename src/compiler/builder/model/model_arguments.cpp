// What an ONNX file declares of its inputs, outputs and initializers. The numbers of fields are the standard's.
#include "tenfold/internal/model_arguments.h"

#include <set>

#include "base/check.h"
#include "base/files/file.h"
#include "onnx_import/read_messages.h"
#include "ops/onnx_dtype.h"

namespace tenfold {
namespace {

using onnx_import::Fields;
namespace onnx = onnx_import::onnx;

constexpr std::int64_t kFirstWithDefaults = 4;   // the IR version from which on an initializer gives an input its default

std::string text_of(std::int64_t type) { return std::string(name(ops::dtype_from_onnx(type))); }

std::string text_of(const onnx::TypeProto& type) {
  if (type.tensor_type) return cat("tensor(", text_of(type.tensor_type->elem_type), ")");
  if (type.sequence_type) return cat("seq(", text_of(*type.sequence_type), ")");
  if (type.optional_type) return cat("optional(", text_of(*type.optional_type), ")");
  if (type.map_type) return cat("map(", text_of(type.key_type), ",", text_of(*type.map_type), ")");
  return "";
}

DeclaredValue read_value(Fields in) {
  DeclaredValue value;
  onnx::TypeProto type;
  while (in.next()) switch (in.number()) {
    case 1: value.name = in.name(); break;
    case 2: onnx_import::read_fields(in.message("TypeProto"), type); break;
    default: break;
  }
  value.type = text_of(type);
  if (!type.tensor_type || !type.tensor_type->shape) return value;
  value.ranked = true;
  for (const auto& dim : type.tensor_type->shape->dim) {
    value.shape.push_back(dim.dim_value.value_or(-1));
    value.names.push_back(dim.dim_param);
  }
  return value;
}

// Its data are not looked at.
void read_initializer(Fields in, ModelArguments& m) {
  std::string name;
  bool external = false;
  while (in.next()) switch (in.number()) {
    case 8: name = in.name(); break;
    case 14: external = in.integer() == 1; break;
    default: break;
  }
  if (external) m.external.push_back(name);
  m.initializers.push_back(std::move(name));
}

void read_graph(Fields in, ModelArguments& m) {
  while (in.next()) switch (in.number()) {
    case 5: read_initializer(in.message("TensorProto"), m); break;
    case 11: m.inputs.push_back(read_value(in.message("ValueInfoProto"))); break;
    case 12: m.outputs.push_back(read_value(in.message("ValueInfoProto"))); break;
    default: break;
  }
}

}  // namespace

ModelArguments model_arguments(std::span<const std::byte> onnx) {
  require(!onnx.empty(), ErrorKind::invalid_model, "is empty, an ONNX model was expected");
  onnx_import::Source source{.bytes = onnx, .what = "an ONNX model"};
  ModelArguments m;
  std::int64_t version = 0;
  bool is_model = false;
  Fields in(source, "ModelProto");
  while (in.next()) switch (in.number()) {
    case 1: version = in.integer(); break;
    case 7: read_graph(in.message("GraphProto"), m), is_model = true; break;
    default: break;
  }
  require(is_model, ErrorKind::invalid_model, "has no graph, an ONNX model was expected");
  const std::set<std::string> initializers(m.initializers.begin(), m.initializers.end());
  std::vector<DeclaredValue> inputs;
  for (DeclaredValue& input : m.inputs) {
    if (initializers.count(input.name) == 0) inputs.push_back(std::move(input));
    else if (version >= kFirstWithDefaults) m.overridable.push_back(std::move(input));
  }
  m.inputs = std::move(inputs);
  return m;
}

ModelArguments model_arguments(const std::string& path) {
  const auto file = MappedFile::read(path);
  try {
    return model_arguments(file->bytes());
  } catch (Error& error) {
    error.within(path);
    throw;
  }
}

}  // namespace tenfold
