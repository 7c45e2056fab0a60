#include "builder/precision/choose_precision.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/check.h"
#include "builder/diagnostics.h"
#include "builder/example_inputs.h"
#include "builder/model/profiles.h"
#include "builder/precision/observed_runs.h"
#include "builder/precision/samples.h"
#include "builder/stages.h"
#include "passes/precision/auto_precision.h"
#include "passes/precision/layer_types.h"
#include "passes/precision/qdq.h"
#include "tenfold/bindings.h"

namespace tenfold::builder {
namespace {

bool has_bf16(const ir::Graph& form) { return passes::layers_by_type(form).count(DType::bf16) > 0; }

std::string rounded(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

// The least time of the forms with bf16, or of those without, in milliseconds; 0 if none was timed.
double least(const TimedForms& forms, bool with_bf16) {
  std::int64_t best = 0;
  for (std::size_t i = 0; i < forms.nanoseconds.size(); ++i)
    if (const std::int64_t own = forms.nanoseconds[i]; own > 0 && has_bf16(forms.forms[i]) == with_bf16)
      best = best == 0 ? own : std::min(best, own);
  return static_cast<double>(best) / 1e6;
}

// The relative l2 difference of each output that has floats, the largest first.
std::vector<OutputError> differences(const ir::Graph& source, const Engine& engine, const BuildConfig& config) {
  const std::vector<plan::Range> ranges = symbol_ranges(source, profiles_of(config).front(), {});
  ir::Graph graph = source.clone();
  specialize(graph, ranges);
  lower_for_kernels(graph);
  std::vector<std::string> inputs, outputs;
  for (const BindingInfo& b : engine.bindings()) (b.is_input ? inputs : outputs).push_back(b.name);
  const InputSet examples = example_inputs(engine, config);
  const std::vector<RuntimeValue> got = run_values(*engine.create_context(), in_order(examples, inputs));
  const std::vector<RuntimeValue> expected = ObservedRuns(std::move(graph), ranges, config).run(examples);
  std::vector<OutputError> found;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    double error = 0, size = 0;
    add_difference(got[i], expected[i], error, size);
    if (size > 0) found.push_back({outputs[i], std::sqrt(error / size)});
  }
  std::ranges::stable_sort(found, std::greater(), &OutputError::relative_l2);
  return found;
}

std::string differences_in_words(const std::vector<OutputError>& found) {
  if (found.empty()) return "no output has floats other than 0 there";
  return cat(found.size() > 1 ? "at most " : "", rounded(100 * found[0].relative_l2, 2), " % ('", found[0].output, "')");
}

}  // namespace

void choose_precision(BuildConfig& config, const ir::Graph& model, const backends::DeviceInfo& device, BuildReport& report) {
  const passes::PrecisionChoice choice = passes::auto_precision(device, config.calibration || passes::is_quantized(model));
  config.fp16 = choice.fp16, config.bf16 = choice.bf16, config.int8 = choice.int8;
  if (!choice.int8 && !config.budget) config.calibration.reset();   // a budget needs the data all the same
  add_note({Severity::info, NoteKind::precision, "", cat("precision was chosen by the device: ", choice.why)}, config, report);
}

void report_types(const TimedForms& forms, const BuildConfig& config, BuildReport& report) {
  const ir::Graph& taken = forms.forms[forms.taken];
  if (forms.profile == 0 && forms.forms.size() > 1) report.layers_by_type = passes::layers_by_type(taken);
  const double bf16 = least(forms, true), f32 = least(forms, false);
  if (!config.auto_precision || bf16 == 0 || f32 == 0) return;
  const std::string of_profile = forms.profiles > 1 ? cat("profile ", forms.profile, ": ") : "";
  add_note({Severity::info, NoteKind::precision, "",
            cat(of_profile, has_bf16(taken) ? "bf16" : "fp32", " was taken: a run takes ", rounded(bf16, 3), " ms with bf16 and ",
                rounded(f32, 3), " ms in fp32, by the tuner's times")},
           config, report);
}

void report_rounding(const ir::Graph& source, const Engine& engine, const BuildConfig& config, BuildReport& report) {
  const auto of_bf16 = report.layers_by_type.find(DType::bf16);
  if (!config.auto_precision || !times_kernels(config) || of_bf16 == report.layers_by_type.end() || of_bf16->second == 0) return;
  const char* const on = config.typical_inputs.empty() ? "random inputs" : "the first typical inputs";
  std::string text;
  try {
    require(constant_bytes(source) <= kMaxCompared, ErrorKind::unsupported, "its weights take more than 1 GiB");
    text = cat("bf16 changes the outputs by ", differences_in_words(differences(source, engine, config)), ", relative l2 on ", on);
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::cancelled) throw;
    text = cat("how much bf16 changes the outputs is not known, for the model was not run on ", on, ": ", e.what());
  }
  add_note({Severity::info, NoteKind::precision, "", std::move(text)}, config, report);
}

}  // namespace tenfold::builder
