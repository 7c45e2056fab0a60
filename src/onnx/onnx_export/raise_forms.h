// Nodes of an older version of ai.onnx in the form of a newer one: one row of a table for each operator and version that changed it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "ir/type.h"
#include "onnx_export/edits.h"
#include "onnx_export/raise_opset.h"
#include "onnx_import/messages.h"

namespace tenfold::onnx_export {

struct Raising {
  int from = 0, to = 0;
  std::function<std::string(const std::string&)> fresh;                      // makes names of values
  std::function<const ir::ValueType*(const std::string&)> type;              // of a value, in bodies, too; null: not known
};

// Writes those nodes of the model's own graph and of its bodies into `edits` whose form changes between the versions, beside those of
// write_raised(), which leaves alone what is written here. All of them. A node that has no other form is left as it is:
// nodes_in_the_way() tells.
NodeSet write_forms(const onnx::ModelProto& model, const Raising& raising, Edits& edits);

}  // namespace tenfold::onnx_export
