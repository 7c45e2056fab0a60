// The builder's inner entry points: from a graph to a plan or an engine. Used by the public build functions, by re-tuning and tests.
#pragma once

#include "backends/backend.h"
#include "ir/op_def.h"
#include "plan/plan.h"
#include "tenfold/build.h"

namespace tenfold::builder {

struct Model;   // builder/model/model.h

Engine build(const Model& model, const BuildConfig& config, BuildReport& report);
// `findings` (budget/findings.h), if there are any, are what other builds of this graph found out; they get what this one does.
// `open_graph`, if there is one, makes the graph anew with the extents open that profiles fix: what is tried out on fewer examples needs
// it.
plan::Plan build_plan(const ir::Graph& graph, const BuildConfig& config, const std::string& model_name,
                      std::shared_ptr<backends::Backend> backend, BuildReport& report, const std::function<ir::Graph()>& open_graph = {},
                      struct Findings* findings = nullptr);
Engine build_graph(const ir::Graph& graph, const BuildConfig& config, const std::string& model_name = "", BuildReport* report = nullptr);

}  // namespace tenfold::builder
