// Calibration: 8 bits for the products of a plain f32 model, by the values that the user's own data gives.
//
// The build runs the model in f32 on samples, looks at the data operands of convolutions and of products with constant
// weights, and gives each a range that 8 bits cover. The plan then computes these products in integers. Softmax,
// normalisation and products of two activations stay in floats.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tenfold/tensor.h"

namespace tenfold {

using InputSet = std::map<std::string, Tensor>;   // a value for each input, by its name

struct Calibration {
  // Gives sample 0, 1, 2 and so on, or nothing where there are no more; each build begins with 0 again. Types and shapes
  // are those of the engine's inputs within the first profile. The build calls it in its own thread. What it throws ends
  // the build and comes through.
  // It may be empty where a cache gives the ranges.
  std::function<std::optional<InputSet>(int index)> sample;
  // Most that are run. Samples 0, 2, 4 and so on give the ranges; on all others the finished plan is compared with the
  // model in f32. The log warns where fewer than 25 give ranges.
  int samples = 200;
  // How a range follows from the values that were seen.
  //   auto        each of these is tried on up to eight of the samples; that with the least error of the outputs is taken
  //   entropy     the least divergence of Kullback and Leibler (Migacz 2017), out of 2,048 bins
  //   minmax      everything that was seen
  //   mse         the least squared error (Choukroun 2019)
  //   percentile  99.99 % of what was seen
  // Any other name throws invalid_argument.
  std::string method = "auto";
  // A file in the form of TensorRT's calibration caches. If it exists, ranges come from it and no sample is asked for
  // them; a file that names fewer than half of the values that need ranges is another model's, and refused. If it does
  // not, the build writes it. It holds magnitudes alone, so that ranges from samples are a little better. Empty: none.
  std::string cache;
};

// The relative error of an output of floats over all samples that it was compared on: the norm (l2) of the difference by
// that of the f32 model's answers.
struct OutputError { std::string output; double relative_l2 = 0; };

// What a calibration did. `values` have ranges; `without_range` names values of the graph that the data never reached
// or left at zero, and whose products stay in floats. `errors` were measured on `compared` samples that gave no ranges;
// there are none where one sample is all there is.
struct CalibrationReport {
  std::string method;             // what "auto" took; "cache" if the ranges come from one
  int samples = 0, values = 0, compared = 0;
  std::vector<std::string> without_range;
  std::vector<OutputError> errors;
  double seconds = 0;
};

}  // namespace tenfold
