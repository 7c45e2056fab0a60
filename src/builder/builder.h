// The builder's inner entry points: from a graph to a plan or an engine. Used by the public build functions, by re-tuning and tests.
#pragma once

#include "backends/backend.h"
#include "ir/op_def.h"
#include "plan/plan.h"
#include "tenfold/build.h"

namespace tenfold::onnx_import { struct ImportOptions; }

namespace tenfold::builder {

plan::Plan build_plan(const ir::Graph& graph, const BuildConfig& config, const std::string& model_name,
                      std::shared_ptr<backends::Backend> backend, BuildReport& report);
onnx_import::ImportOptions import_options(const BuildConfig& config);
Engine build_graph(const ir::Graph& graph, const BuildConfig& config, const std::string& model_name = "", BuildReport* report = nullptr);

}  // namespace tenfold::builder
