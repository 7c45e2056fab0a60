// Calibration: int8 or e4m3 for GEMMs and convolutions of a plain fp32 model, with ranges from samples.
//
// The build runs the model in fp32 on samples, observes the data operands of convolutions and of GEMMs with constant
// weights, and derives a range for each. The plan then computes these layers in int8 or e4m3. Softmax, normalization and
// GEMMs of two activations stay in wider floats.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tenfold/optimization_profile.h"
#include "tenfold/tensor.h"

namespace tenfold {

using InputSet = std::map<std::string, Tensor>;   // a value for each input, by its name
using OutputSet = std::map<std::string, Tensor>;  // a value for each output that is a tensor, by its name

struct Calibration {
  // Returns sample 0, 1, 2 and so on, or nothing after the last; each build begins with 0 again. Types and shapes are those
  // of the engine's inputs within the profile below. The build calls it in its own thread. An exception ends the build
  // and is passed on. It may be empty if a cache gives the ranges.
  std::function<std::optional<InputSet>(int index)> sample;
  // The maximum number of samples. Samples 0, 2, 4 and so on are used for ranges; on all others the finished plan is
  // compared with the fp32 model. The log warns if fewer than 25 are used for ranges.
  int samples = 200;
  // The profile whose shapes the samples have: an index into BuildConfig::profiles, or `shapes` if it is not empty. If
  // none of the plan's own profiles contains them, the plan is not compared with the model.
  int profile = 0;
  OptimizationProfile shapes;
  // Types that layers may be quantized to: i8, f8e4m3fn (GPUs from sm_89 on). All layers take the first that the device
  // supports, except those to which LayerTypes give another; a search within an ErrorBudget chooses among all of them.
  // Empty, with an ErrorBudget: samples are only used to measure errors.
  std::vector<DType> types = {DType::i8};
  // The calibrator: how a range is derived from the observed values.
  //   auto        the one of the next four with the smallest output error on up to eight of the samples; one that clips
  //               must be better than minmax by a tenth. e4m3 takes minmax: its steps are finest at small numbers
  //   entropy     smallest Kullback-Leibler divergence (Migacz 2017), with 2,048 bins
  //   minmax      all values
  //   mse         smallest squared error (Choukroun 2019)
  //   percentile  99.99 % of the values
  //   dynamic     none: rows of GEMMs with constant weights are quantized at run time, convolutions stay wide; `sample`
  //               may be empty, else it is used to measure the error
  // Any other name throws invalid_argument.
  std::string method = "auto";
  // A file in the format of TensorRT's calibration caches. If it exists, ranges come from it and not from samples; a file
  // that names fewer than half of the values that need ranges is refused as another model's. If it does not exist, the
  // build writes it. It holds magnitudes only, so ranges from samples are a little better. Empty: none.
  std::string cache;
  // Corrections of the quantization error, tried in this order on up to eight of the calibration samples. Each is kept if
  // the error of the outputs falls, and reported in CalibrationReport::corrections. Any other name throws
  // invalid_argument. Without samples (a cache alone) there are none.
  //   equalize  cross-layer equalization of the channels between two layers (Nagel 2019, arXiv 1906.04721)
  //   smooth    SmoothQuant: moves large channels of an operand into the weights (Xiao 2023, arXiv 2211.10438)
  //   round     rounds weights up or down to keep the layer's results (after AdaRound, Nagel 2020, arXiv 2004.10568)
  //   bias      bias correction: subtracts the mean error of each output channel (Nagel 2019)
  std::vector<std::string> corrections = {"equalize", "smooth", "round", "bias"};
};

// How far a plan's outputs may differ from the fp32 model's. The build tries plans in which those layers stay wide that
// cost most error for the time that they save. It takes the fastest plan whose error, measured on samples that were not
// used for ranges, is within these bounds. Permissions (BuildConfig::int8, fp16, bf16) and layer_types apply. If no
// narrower plan is within the bounds, the result is an fp32 plan, and a note says so.
struct ErrorBudget {
  double max_error = 0;                     // of each output of floats that `outputs` does not name; > 0
  std::map<std::string, double> outputs;    // of these outputs
  // How the error of an output is measured.
  //   l2      the norm of the difference by that of the reference
  //   linf    the largest difference by the largest element of the reference
  //   cosine  1 - the cosine of the angle between rows (along the last axis), the mean of all rows
  //   top1    the share of rows whose largest element is another one
  //   top5    ... is not among the five largest
  std::string metric = "l2";
  // Instead of `metric`: the error of outputs against the fp32 model's, both by sample in the same order. The build calls
  // it in its own thread, more than once. There is no confidence interval. An exception ends the build and is passed on.
  std::function<double(std::span<const OutputSet> reference, std::span<const OutputSet> candidate)> measure;
  // With top1 and top5: the class of sample 0, 1, 2 and so on, -1 if it is unknown. The error is the loss of accuracy
  // against the fp32 model, as a share of rows; negative for a gain.
  std::vector<std::int64_t> labels;
  std::int64_t search_memory = std::int64_t{2} << 30;   // bytes of activations that the search may store
  // After this time no further plan is started, and the best so far is taken.
  double search_seconds = 300;
};

// A plan that the search made. `error` is the largest of the outputs' errors by their bounds, times max_error: at most
// max_error is within the budget. `low` and `high` hold it with 95 % for other samples of the same kind (bootstrap).
struct BudgetPlan {
  std::string name;                         // "int8", "fp32", "12 of 53 layers wide"
  double error = 0, low = 0, high = 0;
  double milliseconds = -1;                 // of a run, measured on the finished plan (median); -1: not measured
  double tuned_milliseconds = -1;           // of all steps by the tuner's times; -1 at level 0
  std::int64_t weight_bytes = 0;
  std::map<DType, double> work;             // the share of multiplications in each type
  bool within = false, taken = false;
};
// A layer that the search could decide about: its error if only this layer is quantized, and the time that this saves.
struct BudgetLayer {
  std::string layer, op;
  double error = 0, saved_milliseconds = 0;
  bool wide = false;                        // in the plan that was taken
  DType type = DType::f32;                  // that it computes in there
  std::string advice;                       // how to reduce its error or its time; may be empty
};
struct BudgetReport {
  std::vector<BudgetPlan> plans;            // in the order in which they were made
  std::vector<BudgetLayer> layers;          // in the order of the model
  int samples = 0;                          // that errors were measured on
  bool met = false, out_of_time = false;
  double seconds = 0;
};

// The relative error of an output of floats over all samples that it was compared on: the norm (l2) of the difference by
// that of the f32 model's answers.
struct OutputError { std::string output; double relative_l2 = 0; };

// A correction that was tried, and the relative l2 error of all outputs together without it and with it.
struct CorrectionReport { std::string name; double before = 0, after = 0; bool kept = false; };

// The result of a calibration. `values` have ranges; `without_range` names values of the graph that the data never reached
// or left at zero: layers that read them stay in floats. `errors` were measured on `compared` samples that were not used
// for ranges; with a single sample there are none.
struct CalibrationReport {
  std::string method;             // what "auto" took; "cache" if the ranges come from one
  int samples = 0, values = 0, compared = 0;
  std::vector<std::string> without_range;
  std::vector<OutputError> errors;
  std::vector<CorrectionReport> corrections;
  double seconds = 0;
};

}  // namespace tenfold
