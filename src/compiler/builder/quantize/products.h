// The products of a model file: which are to be quantized, and why the others are not.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "onnx_import/messages.h"
#include "quant/place_qdq.h"
#include "tenfold/quantize_file.h"

namespace tenfold::builder {

namespace onnx = onnx_import::onnx;

// A node of ai.onnx that the user calls a product. In bodies and functions, too.
bool is_product(const onnx::NodeProto& node);
std::string shown(const onnx::NodeProto& node);   // its name; of one without a name "-> RESULT"

// Places of products whose names fit a pattern, which has one '*' at most. Throws invalid_argument naming one that fits none.
std::set<std::size_t> products_named(const onnx::GraphProto& graph, const std::vector<std::string>& patterns);

// Finds the file's nodes again in a graph that was imported from it, and in copies of that.
class FileNodes {
 public:
  // Both outlive this.
  FileNodes(const onnx::ModelProto& model, const ir::NameTable& names);
  // The place in the list of the model's own nodes of the one that this is: its operator and operands are the same. None: it is in a body
  // or a function, or was made of something else.
  std::optional<std::size_t> place_of(const ir::Node& node) const;
  // Whether that name of the model's own graph means this value.
  bool is_called(const ir::Value& value, const std::string& name) const;

 private:
  const onnx::ModelProto& model_;
  const ir::NameTable& names_;
  std::map<std::int32_t, std::size_t> places_;   // by the table's number of a node
};

using WhyLeft = std::map<std::size_t, std::string>;   // why products stay in floats, in words that follow "because", by their places

// Products that are not among `quantized`, by reason. `graph`: as it was before anything was placed; `left`: what it does not tell.
void report_layers(const onnx::ModelProto& model, const ir::Graph& graph, const FileNodes& nodes, const WhyLeft& left,
                   const std::set<std::size_t>& quantized, QuantizeReport& report);

}  // namespace tenfold::builder
