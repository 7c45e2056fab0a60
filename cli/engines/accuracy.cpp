// The largest element of each row of classes, against a label.
#include "engines/accuracy.h"

#include <algorithm>
#include <cstdio>
#include <limits>

#include "tenfold/bindings.h"

namespace tenfold::cli {

const BindingInfo& output_of_classes(const std::vector<BindingInfo>& bindings) {
  for (const BindingInfo& b : bindings) {
    const std::size_t rank = b.shape.size();
    if (!b.is_input && is_float(b.dtype) && (rank == 1 || rank == 2) && b.shape.back() != 1) return b;
  }
  throw Error(ErrorKind::io, "--labels: the model has no output of classes, floats of [N,classes]");
}

std::vector<std::int64_t> largest_of_rows(const Tensor& t) {
  const std::int64_t classes = t.shape().back();
  std::vector<std::int64_t> found;
  for (std::int64_t first = 0; classes > 0 && first < t.size(); first += classes) {
    std::int64_t best = -1;
    double max_samples = -std::numeric_limits<double>::infinity();
    for (std::int64_t c = 0; c < classes; ++c)
      if (const double value = t.as_double(first + c); value > max_samples) max_samples = value, best = c;
    found.push_back(best);
  }
  return found;
}

namespace {

// An engine that gives the classes of an output.
class Classifier {
 public:
  Classifier(const Engine& engine, const std::string& output) : context_(engine.create_context()) {
    std::size_t outputs = 0;
    for (const BindingInfo& b : engine.bindings()) {
      if (b.is_input) inputs_.push_back(b.name);
      else if (b.name == output) output_ = outputs;
      outputs += !b.is_input;
    }
  }
  std::vector<std::int64_t> operator()(const InputSet& sample) {
    std::vector<RuntimeValue> values;
    for (const std::string& input : inputs_)
      if (const auto at = sample.find(input); at != sample.end()) values.emplace_back(at->second);
      else values.emplace_back();   // its default
    return largest_of_rows(run_values(*context_, values).at(output_).tensor());
  }

 private:
  std::unique_ptr<ExecutionContext> context_;
  std::vector<std::string> inputs_;
  std::size_t output_ = 0;
};

// The model as it stands: nothing narrower than f32, and no time spent on choosing kernels.
Engine floats_of(const std::string& model, BuildConfig config) {
  config.calibration = {}, config.budget = {}, config.layer_types = {}, config.timing_cache.clear(), config.progress = {}, config.dump = {};
  config.fp16 = config.bf16 = config.int8 = config.fp8 = config.tf32 = config.auto_precision = config.keep_portable_graph = false;
  config.refittable = config.version_compatible = config.hardware_compatible = config.error_on_cache_miss = false;
  config.optimization_level = 0;
  config.log = [](Severity, std::string_view) {};   // the first build has said it
  return build_file(model, config);
}

std::string percent(std::int64_t part, std::size_t all) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100.0 * static_cast<double>(part) / static_cast<double>(all));
  return text;
}

}  // namespace

Accuracy::Accuracy(const ExecOptions& o, const CalibrationData& data) : data_(data) {
  const formats::Labels labels(o.labels, "--labels");
  const BindingInfo& output = output_of_classes(data.bindings());
  output_ = output.name, rows_ = output.shape.size() == 2;
  if (output.shape.back() > 0 && labels.largest() >= output.shape.back())
    throw Error(ErrorKind::io, "--labels: '" + o.labels + "' has class " + std::to_string(labels.largest()) + ", and the output '" +
                                   output_ + "' " + std::to_string(output.shape.back()) + " classes from 0 on");
  std::size_t row = 0;   // of arrays: counted through all samples, for labels are in their order
  for (int i = 0; i < data.max_samples(); ++i) {
    std::vector<formats::ImageOrigin> origins = data.samples().origins(i);
    if (origins.empty()) {
      const std::optional<InputSet> sample = data.samples().at(i);
      if (!sample || sample->empty()) break;
      const Shape& shape = sample->begin()->second.shape();
      const std::int64_t rows = rows_ && !shape.empty() ? shape[0] : 1;
      for (std::int64_t r = 0; r < rows; ++r) origins.push_back({row++, ""});
    }
    if (i < data.first() || (i - data.first()) % data.step() != 0) continue;
    Labeled& one = samples_.emplace_back(Labeled{i, {}});
    for (const formats::ImageOrigin& origin : origins) one.classes.push_back(labels.of(origin.number, origin.path));
  }
  if (samples_.empty()) throw Error(ErrorKind::io, "--labels: no sample checks; more of --data would, or --checkData=PATH");
}

std::vector<std::int64_t> Accuracy::by_sample() const {
  std::vector<std::int64_t> labels;
  for (const Labeled& one : samples_) {
    const int number = data_.step() == 1 ? 2 * one.index + 1 : one.index;   // samples of --checkData are the odd ones
    const std::size_t rows = one.classes.size(), first = static_cast<std::size_t>(number) * rows;
    if (labels.size() < first + rows) labels.resize(first + rows, -1);
    std::copy(one.classes.begin(), one.classes.end(), labels.begin() + static_cast<std::ptrdiff_t>(first));
  }
  return labels;
}

void Accuracy::log_accuracy(const ExecOptions& o, const Engine& plan, const BuildConfig& config) const {
  const Engine floats = floats_of(o.onnx, config);
  Classifier of_plan(plan, output_), of_floats(floats, output_);
  std::int64_t plan_right = 0, floats_right = 0, same = 0;
  std::size_t all = 0;
  for (const Labeled& one : samples_) {
    const InputSet sample = data_.samples().at(one.index).value();
    const std::vector<std::int64_t> got = of_plan(sample), expected = of_floats(sample);
    if (got.size() != one.classes.size() || expected.size() != one.classes.size())
      throw Error(ErrorKind::io, "--labels: the output '" + output_ + "' has " + std::to_string(got.size()) + " rows for " +
                                     std::to_string(one.classes.size()) + " labels");
    for (std::size_t r = 0; r < got.size(); ++r)
      ++all, plan_right += got[r] == one.classes[r], floats_right += expected[r] == one.classes[r], same += got[r] == expected[r];
  }
  o.console.info("accuracy by '" + output_ + "' on " + std::to_string(all) + " labeled samples that gave no ranges: the plan " +
                 percent(plan_right, all) + ", the model in f32 " + percent(floats_right, all) + "; both have the same class first for " +
                 percent(same, all));
}

}  // namespace tenfold::cli
