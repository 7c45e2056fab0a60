#include "builder/quantize/places.h"

#include <filesystem>

#include "base/check.h"
#include "base/types/element.h"
#include "onnx_import/tensor_proto.h"
#include "ops/onnx_dtype.h"

namespace tenfold::builder {
namespace {

namespace fs = std::filesystem;

template <class Use>
void each_tensor(const std::vector<onnx::NodeProto>& nodes, Use&& use);

template <class Use>
void each_tensor(const onnx::GraphProto& graph, Use&& use) {
  for (const onnx::TensorProto& t : graph.initializer) use(t);
  each_tensor(graph.node, use);
}
template <class Use>
void each_tensor(const std::vector<onnx::NodeProto>& nodes, Use&& use) {
  for (const onnx::NodeProto& node : nodes)
    for (const onnx::AttributeProto& a : node.attribute) {
      if (a.t) use(*a.t);
      for (const onnx::TensorProto& t : a.tensors) use(t);
      if (a.g) each_tensor(*a.g, use);
      for (const onnx::GraphProto& g : a.graphs) each_tensor(g, use);
    }
}
template <class Use>
void each_external(const onnx::ModelProto& model, Use&& use) {
  const auto look = [&](const onnx::TensorProto& t) { if (t.data_location == 1) use(t); };
  each_tensor(*model.graph, look);
  for (const onnx::FunctionProto& f : model.functions) each_tensor(f.node, look);
}

std::string location_of(const onnx::TensorProto& tensor) {
  for (const auto& entry : tensor.external_data)
    if (entry.key == "location") return entry.value;
  return "";
}

fs::path folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

bool same(const fs::path& a, const fs::path& b) {
  std::error_code absent;
  return fs::equivalent(a, b, absent) && !absent;
}

}  // namespace

void expect_places(const std::string& model_path, const std::string& output, const onnx::ModelProto& model) {
  require(!output.empty(), ErrorKind::invalid_argument, "the output has no name");
  require(!same(model_path, output), ErrorKind::invalid_argument, "the output '", output, "' is the model itself, which would be lost: ",
          "give it another name");
  const fs::path from = folder_of(model_path);
  each_external(model, [&](const onnx::TensorProto& tensor) {
    const std::string location = location_of(tensor);
    for (const std::string& written : {output, output + ".data"})
      require(!same(from / location, written), ErrorKind::invalid_argument, "the model keeps weights in '", location,
              "', which would be lost: give the output another name");
  });
}

std::int64_t external_bytes(const onnx::ModelProto& model) {
  std::int64_t bytes = 0;
  each_external(model, [&](const onnx::TensorProto& t) {
    bytes += byte_size(ops::dtype_from_onnx(t.data_type), element_count(onnx_import::tensor_shape(t.dims)));
  });
  return bytes;
}

}  // namespace tenfold::builder
