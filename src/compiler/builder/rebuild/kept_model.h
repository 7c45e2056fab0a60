// The model that a compatible plan keeps: the graph as it was imported and how it was to be built, as text, and its weights as they are.
//
//   kept model 2                                           1 where nothing of a calibration follows
//   kind "cpu" name "m.onnx"
//   options bf16=0 disabled=["fuse_norm"] fp16=1 ...      what of BuildConfig changes results
//   profile                                                one line each, then the range of each of its inputs: min, opt, max
//   range "x" [1,6] [2,6] [4,6]
//   default "bias" literal f32[2]{1,2}                     of an input that need not be bound
//   calibration "percentile" samples=100 values=54         what gave ranges (dynamic: rows as they run), and how many
//   seen values "x" literal f64[2]{-1,6}                   of a value of the rewritten graph: its range; also channels, weights and biases,
//   seen weights "y" stored i8[768,768] 0                  which correct what 8 bits lose (quant/corrections.h)
//   stored f32[768] 4096                                   constant 0 of the graph, by its place among the kept weights
//   literal i64[2]{1,-1}                                   constant 1
//   graph
//     (x f32[batch,768]) ...
//
// Later versions read what this one writes: a change of it is a new number in the first line, and the old form is still read.
#pragma once

#include "builder/budget/findings.h"
#include "ir/op_def.h"
#include "plan/plan.h"
#include "tenfold/build.h"

namespace tenfold::builder {

// `findings`: of the build. Its ranges are kept, for samples are not.
plan::KeptModel keep_model(const ir::Graph& graph, const BuildConfig& config, const std::string& name, const std::string& kind,
                           const Findings& findings);

struct ModelOfPlan {
  ir::Graph graph;
  BuildConfig config;   // precision, profiles and what else changes results; all else is as a default one has it
  std::string name, kind;
  std::optional<quant::Ranges> ranges;   // of a calibration, which config then has without samples
  CalibrationReport calibration;
};
// Throws plan_refused where the text or a place is not as it should be.
ModelOfPlan read_kept_model(const plan::KeptModel& kept, const ir::Registry& registry);

}  // namespace tenfold::builder
