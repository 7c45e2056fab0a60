// What a type does to a file: prepared once by running the samples, then asked for edits that leave some products as they are.
#pragma once

#include <memory>

#include "builder/builder.h"
#include "builder/quantize/file_edits.h"
#include "builder/quantize/products.h"

namespace tenfold::builder {

// All of it outlives the rewriting.
struct FileSource {
  const onnx::ModelProto& model;
  const ir::Graph& read;         // as the file has it
  const ir::Graph& graph;        // the same with the weights that it computes
  const FileNodes& nodes;
  const std::vector<plan::Range>& ranges;
  const BuildConfig& config;
  const QuantizeOptions& options;
  bool keeps_weights = false;    // also those that no node of the file reads any more
};

using Places = std::set<std::size_t>;   // of products, in the model's list of nodes

class Rewriting {
 public:
  virtual ~Rewriting() = default;
  virtual FileEdits edits(const Places& in_floats) const = 0;
  // What else keeps products in floats, in words that follow "because", by their places.
  virtual WhyLeft why_left() const { return {}; }
};

// An engine of the file with these edits.
using EngineOf = std::function<Engine(const onnx_export::Edits& edits)>;

// By QuantizeLinear and DequantizeLinear: the samples show the ranges of data.
std::unique_ptr<Rewriting> with_qdq(const FileSource& source, const Places& excluded, CalibrationReport& report);
// Weights alone, by groups of a column.
std::unique_ptr<Rewriting> with_groups(const FileSource& source, const Places& excluded, const EngineOf& engine_of,
                                       CalibrationReport& report);

int opset_of(QuantizeType type);   // the least that it needs
void raise_versions(const onnx::ModelProto& model, QuantizeType type, FileEdits& edits);   // to what it needs, if anything is quantized

}  // namespace tenfold::builder
