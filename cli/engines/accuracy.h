// How many samples a plan gets right (--labels), beside the model in f32.
#pragma once

#include "engines/calibration.h"
#include "formats/samples/labels.h"

namespace tenfold::cli {

// The first of the outputs that may be classes: floats, [N,classes] or [classes]. Throws Error(io): there is none.
const BindingInfo& output_of_classes(const std::vector<BindingInfo>& bindings);
std::vector<std::int64_t> largest_of_rows(const Tensor& tensor);   // the place of the largest along the last axis; -1: there is no number

class Accuracy {
 public:
  // Before the build: throws Error(io) for too few labels, and where the model has no output of classes.
  Accuracy(const ExecOptions& options, const CalibrationData& data);
  // For ErrorBudget::labels, by the numbers of the calibration's samples; -1 for those that give ranges.
  std::vector<std::int64_t> by_sample() const;
  // Builds the model in f32, runs both, and says how often each has the label's class first.
  void log_accuracy(const ExecOptions& options, const Engine& plan, const BuildConfig& config) const;

 private:
  // A sample that checks, and the classes of its rows.
  struct Labeled {
    int index = 0;
    std::vector<std::int64_t> classes;
  };
  const CalibrationData& data_;
  std::string output_;
  bool rows_ = false;   // the output has a row for each of a batch
  std::vector<Labeled> samples_;
};

}  // namespace tenfold::cli
