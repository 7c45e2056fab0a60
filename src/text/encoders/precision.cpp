#include "text/encoders/precision.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tenfold/inspect.h"
#include "text/encoders/engines.h"
#include "text/encoders/pooled_context.h"
#include "text/fail.h"
#include "tenfold/device.h"

namespace tenfold::encoders {

using tokenizing::fail;

namespace {

// Texts that the engine may run, by their places: those with a token behind the prompt's.
std::vector<std::size_t> usable(const Tokens& samples, const OutputRequest& request) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < samples.size() && all.size() < kMaxSamples; ++i)
    if (samples.length(i) > static_cast<std::size_t>(request.skipped)) all.push_back(i);
  return all;
}

Calibration calibration_by(std::shared_ptr<const Tokens> samples, std::vector<std::size_t> places) {
  Calibration calibration;
  calibration.samples = static_cast<int>(places.size());
  calibration.sample = [samples, places](int index) -> std::optional<InputSet> {
    if (static_cast<std::size_t>(index) >= places.size()) return std::nullopt;
    const std::size_t text = places[static_cast<std::size_t>(index)];
    Tensor ids(DType::i32, Shape{1, static_cast<std::int64_t>(samples->length(text))});
    std::memcpy(ids.mutable_raw(), samples->ids.data() + samples->begin(text), static_cast<std::size_t>(ids.bytes()));
    return InputSet{{"ids", ids}};
  };
  return calibration;
}

double cosine(std::span<const float> a, std::span<const float> b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) ab += double{a[i]} * b[i], aa += double{a[i]} * a[i], bb += double{b[i]} * b[i];
  if (aa == 0 && bb == 0) return 1;
  const double value = ab / std::sqrt(aa * bb);
  return std::isfinite(value) ? value : -1;
}

// The mean cosine of rows to those of a plan in fp32, over texts that gave no ranges. (One text alone gave them all.)
double mean_cosine(const Engine& narrow, const Engine& wide, const Tokens& samples, const std::vector<std::size_t>& places,
                   const OutputRequest& request, std::int64_t width) {
  PooledContext narrow_runner(narrow, width, 0), wide_runner(wide, width, 0);
  double sum = 0;
  std::int64_t rows = 0;
  for (std::size_t i = places.size() > 1 ? 1 : 0; i < places.size(); i += 2) {
    const std::size_t length = samples.length(places[i]), count = request.output == OutputRequest::tokens ? length : 1;
    std::vector<float> a(count * static_cast<std::size_t>(width)), b(a.size());
    const std::int32_t* ids = samples.ids.data() + samples.begin(places[i]);
    const auto run = [&](PooledContext& runner, std::vector<float>& rows) {
      runner.run(ids, nullptr, nullptr, 1, static_cast<std::int64_t>(length), rows.size(), {},
                 [&](std::span<const float> out) { std::copy(out.begin(), out.end(), rows.begin()); });
    };
    run(narrow_runner, a), run(wide_runner, b);
    for (std::size_t row = 0; row < count; ++row, ++rows) {
      const std::size_t at = row * static_cast<std::size_t>(width);
      sum += cosine(std::span(a).subspan(at, static_cast<std::size_t>(width)), std::span(b).subspan(at, static_cast<std::size_t>(width)));
    }
  }
  return rows > 0 ? sum / static_cast<double>(rows) : -1;
}

Engine build_reference(const Network& network, BuildConfig config) {
  permit(EncoderPrecision::fp32, config);
  config.optimization_level = 0, config.tf32 = false;
  return build(network, config);
}

void say(const BuildConfig& config, Severity severity, const std::string& text) {
  if (config.log) config.log(severity, text);
}

// Ways to int8: fixed ranges, and on CPUs rows that get theirs as they run, which are nearer and slower.
std::vector<std::string> methods_for(const BuildConfig& config) {
  if (is_gpu(config.device)) return {"auto"};
  return {"auto", "dynamic"};
}

}  // namespace

std::string text_of(const PrecisionWish& wish) {
  std::string text = "precision " + std::to_string(static_cast<int>(wish.precision)) + " " + std::to_string(wish.min_cosine);
  if (wish.samples)
    for (std::size_t i = 0; i < wish.samples->size(); ++i) {
      text += "\nsample";
      for (std::size_t at = wish.samples->begin(i); at < wish.samples->ends[i]; ++at) text += " " + std::to_string(wish.samples->ids[at]);
    }
  return text;
}

void permit(EncoderPrecision precision, BuildConfig& config) {
  const bool is_set = config.fp16 || config.bf16 || config.auto_precision || config.calibration || config.budget;
  if (precision == EncoderPrecision::by_build && is_set) return;
  const bool exact = precision == EncoderPrecision::by_build || precision == EncoderPrecision::fp32;
  if (exact && is_gpu(config.device)) config.tf32 = false;
  config.fp16 = precision == EncoderPrecision::fp16, config.bf16 = precision == EncoderPrecision::bf16;
  config.auto_precision = precision == EncoderPrecision::automatic || precision == EncoderPrecision::int8;
  config.calibration.reset(), config.budget.reset();
}

Graded build_graded(const PrecisionWish& wish, const OutputRequest& request, const Network& network, std::int64_t width,
                    const BuildConfig& config) {
  BuildConfig wide = config;
  permit(wish.precision, wide);
  if (!wish.samples || request.output == OutputRequest::scores || request.output == OutputRequest::pooling) {
    if (wish.precision == EncoderPrecision::int8 && request.output == OutputRequest::scores)
      say(config, Severity::warning, "int8 is for vectors; the scores of a classification head are computed in the next wider type");
    return {build(network, wide)};
  }
  const std::vector<std::size_t> places = usable(*wish.samples, request);
  if (places.empty())
    fail(ErrorKind::invalid_argument, "calibration_texts: none of them has a token after the prompt; give typical texts");
  Graded best{build_reference(network, config)};
  const Engine reference = best.engine;
  for (const std::string& method : methods_for(config)) {
    BuildConfig narrow = wide;
    narrow.calibration = calibration_by(wish.samples, places), narrow.calibration->method = method;
    narrow.calibration->shapes = profile_of_samples(config.profiles);
    if (wish.precision == EncoderPrecision::int8)
      narrow.auto_precision = false, narrow.int8 = true, narrow.fp16 = is_gpu(config.device);
    Engine engine = build(network, narrow);
    if (precision_of(engine) != "int8") continue;  // this device computes none of the products so
    const double near = mean_cosine(engine, reference, *wish.samples, places, request, width);
    best.int8_cosine = std::max(best.int8_cosine, near);
    const std::string reported = "int8 (" + method + ") gives vectors with a mean cosine of " + std::to_string(near) +
                             " to those of fp32, on " + std::to_string(std::max<std::size_t>(1, places.size() / 2)) + " texts";
    if (near >= wish.min_cosine) {
      say(config, Severity::info, reported);
      return {std::move(engine), near};
    }
    say(config, Severity::warning, reported + ", and " + std::to_string(wish.min_cosine) + " was asked for");
  }
  best.engine = build(network, wide);
  const bool judged = best.int8_cosine >= 0, must = wish.precision == EncoderPrecision::int8;
  say(config, judged || must ? Severity::warning : Severity::info,
      std::string(judged ? "int8 is not accurate enough" : "this device has no int8 GEMMs") + ", so that " +
          precision_of(best.engine) + " is taken");
  return best;
}

std::string precision_of(const Engine& engine) {
  bool half = false, brain = false;
  for (const PlanProgram& program : engine.inspection().programs)
    for (const PlanStep& step : program.steps)
      for (const std::vector<PlanOperand>* side : {&step.inputs, &step.outputs})
        for (const PlanOperand& operand : *side) {
          if (operand.constant || operand.place == "-") continue;
          if (operand.dtype == DType::i8 || operand.dtype == DType::u8) return "int8";
          half |= operand.dtype == DType::f16, brain |= operand.dtype == DType::bf16;
        }
  return half ? "fp16" : brain ? "bf16" : "fp32";
}

}  // namespace tenfold::encoders

namespace tenfold {

EncoderPrecision parse_encoder_precision(std::string_view name) {
  if (name == "fp32") return EncoderPrecision::fp32;
  if (name == "tf32") return EncoderPrecision::tf32;
  if (name == "fp16") return EncoderPrecision::fp16;
  if (name == "bf16") return EncoderPrecision::bf16;
  if (name == "int8") return EncoderPrecision::int8;
  if (name == "auto") return EncoderPrecision::automatic;
  tokenizing::fail(ErrorKind::invalid_argument, "the precision is fp32, tf32, fp16, bf16, int8 or auto, not '" + std::string(name) + "'");
}

}  // namespace tenfold
