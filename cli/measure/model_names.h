// The model's names for what a plan does: beside layers in a profile, and where one of them went.
#pragma once

#include "measure/measure.h"
#include "tenfold/engine.h"

namespace tenfold::cli {

// Fills in LayerTimes::nodes and LayerTimes::reference.
void name_layers(const Engine& engine, std::vector<LayerTimes>& layers);
// "  (conv1, bn1, relu1)", the longer lists cut; empty for a step that Tenfold added.
std::string nodes_text(const std::vector<std::string>& nodes);
// Where nodes and tensors of this name are in each program of the plan. Throws UsageError if there are none.
std::string matches_text(const PlanInspection& plan, const std::string& name);

}  // namespace tenfold::cli
