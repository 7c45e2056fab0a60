// Calibration: 8 bits for the products of a plain f32 model, by the values that the user's own data gives.
//
// The build runs the model in f32 on samples, looks at the data operands of convolutions and of products with constant
// weights, and gives each a range that 8 bits cover. The plan then computes these products in integers, or in e4m3.
// Softmax, normalization and products of two activations stay in wider floats.
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
  // Gives sample 0, 1, 2 and so on, or nothing where there are no more; each build begins with 0 again. Types and shapes
  // are those of the engine's inputs within the profile below. The build calls it in its own thread. What it throws ends
  // the build and comes through.
  // It may be empty where a cache gives the ranges.
  std::function<std::optional<InputSet>(int index)> sample;
  // Most that are run. Samples 0, 2, 4 and so on give the ranges; on all others the finished plan is compared with the
  // model in f32. The log warns where fewer than 25 give ranges.
  int samples = 200;
  // The profile whose shapes samples have: one of BuildConfig::profiles by its index, or `shapes` where there are any.
  // Where none of the plan's own profiles holds them, the plan is not compared with the model.
  int profile = 0;
  OptimizationProfile shapes;
  // The 8 bits that products may become: i8 (bytes), f8e4m3fn (GPUs from sm_89 on). All take the first that the device
  // multiplies, but for layers that LayerTypes give another; a search within an ErrorBudget chooses among all of them.
  // None of them, with an ErrorBudget: samples show errors alone.
  std::vector<DType> types = {DType::i8};
  // How a range follows from the values that were seen.
  //   auto        each of these is tried on up to eight of the samples; that with the least error of the outputs is taken,
  //               where one that clips gains a tenth on minmax. e4m3 takes minmax: its steps are finest at small numbers
  //   entropy     the least divergence of Kullback and Leibler (Migacz 2017), out of 2,048 bins
  //   minmax      everything that was seen
  //   mse         the least squared error (Choukroun 2019)
  //   percentile  99.99 % of what was seen
  //   dynamic     none: the rows of products with constant weights are quantized as they run, convolutions stay wide;
  //               `sample` may be empty, and shows the error where it is not
  // Any other name throws invalid_argument.
  std::string method = "auto";
  // A file in the form of TensorRT's calibration caches. If it exists, ranges come from it and no sample is asked for
  // them; a file that names fewer than half of the values that need ranges is another model's, and refused. If it does
  // not, the build writes it. It holds magnitudes alone, so that ranges from samples are a little better. Empty: none.
  std::string cache;
  // What may lessen the error of the 8 bits, tried in this order on up to eight of the samples that gave ranges. Each is
  // kept where the outputs' error falls, and CalibrationReport::corrections tells of it. Any other name throws
  // invalid_argument. Without samples (a cache alone) there are none.
  //   equalize  two products in a row share the range of the channels between them (Nagel 2019, arXiv 1906.04721)
  //   smooth    what makes channels of an operand large goes into the weights (SmoothQuant, Xiao 2023, arXiv 2211.10438)
  //   round     weights round to the side that keeps the product's results (after AdaRound, Nagel 2020, arXiv 2004.10568)
  //   bias      the mean error of each output channel goes into the bias (Nagel 2019)
  std::vector<std::string> corrections = {"equalize", "smooth", "round", "bias"};
};

// How far a plan's outputs may be from the f32 model's. The build finds out which layers are worth 8 bits: it makes plans
// in which the layers that cost most in error for what they save in time stay wide, and takes the quickest whose error,
// measured on the samples that gave no ranges, is within these bounds. What is permitted (BuildConfig::int8, fp16, bf16)
// and what layer_types say holds. If nothing narrower is within the bounds, the plan is one of f32, and a note says so.
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
  // In place of `metric`: the error of answers beside the f32 model's, both by sample in one order. The build calls it in
  // its own thread, more than once. It gives no interval. What it throws ends the build and comes through.
  std::function<double(std::span<const OutputSet> reference, std::span<const OutputSet> candidate)> measure;
  // With top1 and top5: the right class of sample 0, 1, 2 and so on, -1 where it is not known. The error is the share of
  // rows that the f32 model has right by which the plan has fewer right; below zero where it has more.
  std::vector<std::int64_t> labels;
  std::int64_t search_memory = std::int64_t{2} << 30;   // bytes of the model's values that the search may keep
  // After as many seconds no further plan is begun, and the best so far is taken.
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
  std::map<DType, double> work;             // the share of the multiplications that each type does
  bool within = false, taken = false;
};
// A layer that the search could decide on: its error when it alone is of 8 bits, and the time that it saves then.
struct BudgetLayer {
  std::string layer, op;
  double error = 0, saved_milliseconds = 0;
  bool wide = false;                        // in the plan that was taken
  DType type = DType::f32;                  // that it computes in there
  std::string advice;                       // what would lessen its error or its time; may be empty
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

// What a calibration did. `values` have ranges; `without_range` names values of the graph that the data never reached
// or left at zero, and whose products stay in floats. `errors` were measured on `compared` samples that gave no ranges;
// there are none where one sample is all there is.
struct CalibrationReport {
  std::string method;             // what "auto" took; "cache" if the ranges come from one
  int samples = 0, values = 0, compared = 0;
  std::vector<std::string> without_range;
  std::vector<OutputError> errors;
  std::vector<CorrectionReport> corrections;
  double seconds = 0;
};

}  // namespace tenfold
