#include "compare/compare_data.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "engines/accuracy.h"
#include "engines/engines.h"
#include "formats/samples/labels.h"
#include "model_or_plan.h"
#include "verbs.h"
#include "tenfold/bindings.h"
#include "tenfold/internal/measure_outputs.h"

namespace tenfold::cli {
namespace {

// From the least to the largest of all samples, for inputs whose shape the model leaves open.
ExecOptions::Ranges ranges_of(formats::Samples& samples, int max_samples, const std::vector<BindingInfo>& bindings) {
  ExecOptions::Ranges ranges;
  for (int i = 0; i < max_samples; ++i) {
    const std::optional<InputSet> sample = samples.at(i);
    if (!sample) break;
    for (const auto& [input, tensor] : *sample) {
      const auto binding = std::find_if(bindings.begin(), bindings.end(), [&name = input](const BindingInfo& b) { return b.name == name; });
      if (binding == bindings.end() || std::count(binding->shape.begin(), binding->shape.end(), -1) == 0) continue;
      const Shape& shape = tensor.shape();
      Shape &min = ranges.min.try_emplace(input, shape).first->second, &max = ranges.max.try_emplace(input, shape).first->second;
      ranges.opt.try_emplace(input, shape);
      for (std::size_t d = 0; d < shape.size() && d < min.size(); ++d)
        min[d] = std::min(min[d], shape[d]), max[d] = std::max(max[d], shape[d]);
    }
  }
  return ranges;
}

std::vector<OutputSet> answers(const Engine& engine, formats::Samples& samples, int max_samples) {
  const auto context = engine.create_context();
  std::vector<std::string> inputs, outputs;
  for (const BindingInfo& b : engine.bindings()) (b.is_input ? inputs : outputs).push_back(b.name);
  std::vector<OutputSet> all;
  for (int i = 0; i < max_samples; ++i) {
    const std::optional<InputSet> sample = samples.at(i);
    if (!sample) break;
    std::vector<RuntimeValue> values;
    for (const std::string& input : inputs)
      if (const auto at = sample->find(input); at != sample->end()) values.emplace_back(at->second);
      else values.emplace_back();   // its default
    const std::vector<RuntimeValue> got = run_values(*context, values);
    OutputSet& set = all.emplace_back();
    for (std::size_t o = 0; o < outputs.size(); ++o)
      if (got[o].is_tensor()) set[outputs[o]] = got[o].tensor().clone();
  }
  return all;
}

// How many rows have the right class first.
struct Right {
  std::string output;
  std::size_t rows = 0, first = 0, second = 0;
};

Right count_right(const formats::Labels& labels, formats::Samples& samples, const std::vector<BindingInfo>& bindings,
                  const std::vector<OutputSet>& a, const std::vector<OutputSet>& b) {
  Right right{output_of_classes(bindings).name};
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::vector<std::int64_t> ours = largest_of_rows(a[i].at(right.output)), theirs = largest_of_rows(b[i].at(right.output));
    const std::vector<formats::ImageOrigin> origins = samples.origins(static_cast<int>(i));
    if (ours.size() != theirs.size() || (!origins.empty() && origins.size() != ours.size()))
      throw Error(ErrorKind::io, "--labels: the output '" + right.output + "' has other rows than there are samples");
    for (std::size_t r = 0; r < ours.size(); ++r, ++right.rows) {
      const std::int64_t label = origins.empty() ? labels.of(right.rows, "") : labels.of(origins[r].number, origins[r].path);
      right.first += ours[r] == label, right.second += theirs[r] == label;
    }
  }
  return right;
}

void print_json(const DataQuestion& q, std::size_t samples, const std::vector<MeasuredOutput>& measured,
                const std::optional<Right>& right) {
  using Json = nlohmann::ordered_json;
  Json root{{"metric", q.metric}, {"samples", samples}, {"outputs", Json::array()}};
  for (const MeasuredOutput& m : measured)
    root["outputs"].push_back(m.problem.empty() ? Json{{"name", m.output}, {"error", m.error}, {"low", m.low}, {"high", m.high}}
                                                : Json{{"name", m.output}, {"problem", m.problem}});
  if (right) root["right"] = {{"rows", right->rows}, {"first", right->first}, {"second", right->second}};
  std::printf("%s\n", root.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
}

void print_table(const DataQuestion& q, std::size_t samples, const std::vector<MeasuredOutput>& measured,
                 const std::optional<Right>& right) {
  std::printf("%-28s %12s   95 %% of samples (%s, %zu samples)\n", "output", "error", q.metric.c_str(), samples);
  for (const MeasuredOutput& m : measured)
    if (m.problem.empty()) std::printf("%-28s %12.5g   %.5g to %.5g\n", printable(m.output).c_str(), m.error, m.low, m.high);
    else std::printf("%-28s %s\n", printable(m.output).c_str(), m.problem.c_str());
  if (!right) return;
  const double all = std::max<double>(1, static_cast<double>(right->rows)) / 100;
  std::printf("right by '%s', of %zu labeled rows: the first %.1f %%, the second %.1f %%\n", printable(right->output).c_str(), right->rows,
              static_cast<double>(right->first) / all, static_cast<double>(right->second) / all);
}

}  // namespace

int compare_on_data(const std::string& first, const std::string& second, ExecOptions exec, const DataQuestion& q) {
  const std::string& model = is_plan(first) && !is_plan(second) ? second : first;
  const InputFiles none({});
  BuildConfig config = exec.build;
  config.profiles = profile_ranges(exec, {});
  const std::vector<BindingInfo> bindings =
      is_plan(model) ? open_model_or_plan(model, exec, none).bindings() : model_bindings(model, config);
  const std::unique_ptr<formats::Samples> samples = open_samples({"data", q.data, q.image, bindings, q.samples, {}, q.tokenizer});
  std::optional<formats::Labels> labels;
  if (!q.labels.empty()) labels.emplace(q.labels, "--labels");
  if (config.profiles.empty()) exec.profiles[0] = ranges_of(*samples, q.samples, bindings);
  const std::vector<OutputSet> a = answers(open_model_or_plan(first, exec, none), *samples, q.samples);
  if (a.empty()) throw Error(ErrorKind::io, "--data: '" + q.data + "' holds no sample");
  const std::vector<OutputSet> b = answers(open_model_or_plan(second, exec, none), *samples, q.samples);
  const std::vector<MeasuredOutput> measured = measure_outputs(q.metric, b, a);
  const std::optional<Right> right = labels ? std::optional(count_right(*labels, *samples, bindings, a, b)) : std::nullopt;
  q.json ? print_json(q, a.size(), measured, right) : print_table(q, a.size(), measured, right);
  const auto far = [&](const MeasuredOutput& m) { return !m.problem.empty() || (q.tolerance >= 0 && !(m.error <= q.tolerance)); };
  return std::any_of(measured.begin(), measured.end(), far) ? kAccuracyFailed : kOk;
}

}  // namespace tenfold::cli
