// External data taken into the model: tensors whose bytes lie in another file hold them themselves.
#pragma once

#include "onnx_export/edit_model.h"
#include "onnx_import/external_data.h"
#include "onnx_import/wire.h"

namespace tenfold::onnx_export {

// What a field of a model holds, as far as there may be tensors in it.
enum class Holder { graph, node, attribute, tensor, sparse_tensor, function, training_info };

class OwnData {
 public:
  // `files`: where external data lie; null: they stay there. `aside`: where large ones go; null: into the model.
  OwnData(onnx_import::ExternalData* files, DataFile* aside) : files_(files), aside_(aside) {}
  // The field at hand, a message of that kind, at the end of `out`: as it stands if none of its tensors is external.
  void keep(const onnx_import::Fields& in, Holder kind, Rope& out) const;

 private:
  Rope with_data(onnx_import::Fields in, Holder kind) const;
  Rope tensor(const onnx_import::Fields& in) const;
  onnx_import::ExternalData* files_;
  DataFile* aside_;
};

}  // namespace tenfold::onnx_export
