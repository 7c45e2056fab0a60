#include "protocol/tensor_metadata.h"

#include "core/datatype.h"
#include "model_config.pb.h"

namespace tenfold::server {
namespace {

template <class List>
std::vector<TensorMetadata> read(const Model& model, const List& list) {
  std::vector<TensorMetadata> tensors;
  for (const auto& one : list) {
    TensorMetadata tensor{one.name(), {}, {one.dims().begin(), one.dims().end()}};
    for (const BindingInfo& binding : model.served().bindings())
      if (binding.name == one.name()) tensor.datatype = v2_name(binding.dtype);
    if (model.max_batch() > 0) tensor.shape.insert(tensor.shape.begin(), -1);
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace

std::vector<TensorMetadata> tensor_metadata(const Model& model, bool inputs) {
  return inputs ? read(model, model.config().input()) : read(model, model.config().output());
}

std::string platform_of(const Model& model) {
  if (!model.config().platform().empty()) return model.config().platform();
  return model.options().path.ends_with(".plan") ? "tenfold_plan" : "tenfold_onnx";
}

}  // namespace tenfold::server
