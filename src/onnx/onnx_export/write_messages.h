// New messages of the ONNX standard.
#pragma once

#include "onnx_export/edit_model.h"

namespace tenfold::onnx_export {

Rope node_proto(const NewNode& node);
Rope node_parts(const NodeForm& form);   // fields of a NodeProto: what the form says, and no more
// Tensors from kAside bytes on lie in `aside`, if there is one.
inline constexpr std::size_t kAside = 1024;
Rope tensor_proto(const std::string& name, const Tensor& tensor, DataFile* aside);
// The bytes of a tensor, as fields of its TensorProto.
void put_data(Rope& tensor_proto, const Tensor& tensor, DataFile* aside);
Rope value_info_proto(const std::string& name, const Tensor& tensor);
Rope opset_proto(const std::string& domain, int version);

}  // namespace tenfold::onnx_export
