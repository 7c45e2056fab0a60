// From QuantizeLinear and DequantizeLinear in a graph to edits of the file that it came from.
#pragma once

#include <set>

#include "builder/quantize/products.h"
#include "onnx_export/edits.h"

namespace tenfold::builder {

// A graph before Q/DQ were placed in it.
struct Before {
  explicit Before(const ir::Graph& graph);
  std::uint32_t last_node;
  std::map<std::uint32_t, std::vector<const ir::Value*>> operands;   // by Node::id
};

struct FileEdits {
  onnx_export::Edits edits;      // without the versions that the types need (rewriting.h)
  std::set<std::size_t> quantized;   // places of products
};

struct FileForm {
  bool integer_bias = false;    // biases as i32 with a DequantizeLinear, whose scale is that of the sums
  bool keeps_weights = false;   // also those that no node of the file reads any more
};

FileEdits file_edits(const ir::Graph& placed, const Before& before, const onnx::ModelProto& model, const FileNodes& nodes,
                     const FileForm& form);

}  // namespace tenfold::builder
