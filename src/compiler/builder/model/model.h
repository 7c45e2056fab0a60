// What a build reads: an ONNX file, its bytes, or a graph that is there already.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ir/op_def.h"
#include "onnx_import/import.h"
#include "tenfold/build.h"

namespace tenfold::builder {

// As its caller has it: with the formats of the configuration, which gets the values of overridable inputs.
struct Model {
  std::string name;
  std::function<std::shared_ptr<const ir::Graph>(BuildConfig& config)> read;
  std::function<std::string()> hash = {};   // of the file's bytes; null: there is none
  // The model anew with the extents open that profiles fix, so that a few examples of a batch may be tried out; null: none is fixed.
  std::function<std::function<ir::Graph()>(const BuildConfig& config)> open_graph = {};
  // What an earlier build found out, so that no samples are needed; null: nothing.
  std::function<void(struct Findings& findings)> known = {};
};

using Import = std::function<ir::Graph(const onnx_import::ImportOptions&)>;
Model model_of(Import import, std::function<std::string()> hash, std::string name);
Model model_of(const ir::Graph& graph, std::string name);   // the graph lives as long

onnx_import::ImportOptions import_options(const BuildConfig& config);
ir::Graph import_source(const Import& import, onnx_import::ImportOptions options, BuildConfig& config);

}  // namespace tenfold::builder
