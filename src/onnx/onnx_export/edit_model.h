// A model file with some changes, made on its wire form: what nobody here understands is kept.
#pragma once

#include "onnx_export/edits.h"
#include "onnx_export/rope.h"

namespace tenfold::onnx_import {
class ExternalData;
}

namespace tenfold::onnx_export {

// Where large new tensors go if they do not lie in the model: a file beside it.
struct DataFile {
  std::string name;   // what the model calls it: relative to its own folder
  Rope bytes = {};
};

// The model's bytes outlive the result. `aside`: null where new tensors lie in the model. `external`: where data lie that the model keeps
// in other files; the result holds them itself, or aside; null: it goes on naming those files. Throws invalid_model where the bytes are
// no model, and as ExternalData does.
Rope edit_model(Rope::Bytes model, const Edits& edits, DataFile* aside = nullptr, onnx_import::ExternalData* external = nullptr);

// Whether it has graphs of training, which may read the initializers of its own graph.
bool has_training_info(Rope::Bytes model);

}  // namespace tenfold::onnx_export
