// Which names of a model's own graph are used, and by how many.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_set>

#include "onnx_export/edits.h"
#include "onnx_import/messages.h"

namespace tenfold::builder {

namespace onnx = onnx_import::onnx;

// Every name of a value or a node in a model, its bodies included, so that new ones differ from all of them.
class FreshNames {
 public:
  explicit FreshNames(const onnx::ModelProto& model);
  std::string value(const std::string& stem) { return fresh(values_, stem); }
  std::string node(const std::string& stem) { return fresh(nodes_, stem); }

 private:
  using Taken = std::unordered_set<std::string>;
  void take(const onnx::GraphProto& graph);
  static std::string fresh(Taken& taken, const std::string& stem);
  Taken values_, nodes_;
};

// Leaves out what only stands for these names, once the edits are made: initializers, and nodes that nobody reads any more.
void leave_out_unused(const onnx::GraphProto& graph, const std::set<std::string>& names, onnx_export::Edits& edits);

}  // namespace tenfold::builder
