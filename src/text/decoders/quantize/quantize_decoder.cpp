// From a folder in floats to one with narrow layers: which they are, how they are rounded, what is copied.
#include "tenfold/quantize_decoder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "tenfold/internal/as_error.h"
#include "text/decoders/quantize/calibrate.h"
#include "tenfold/internal/interrupts.h"
#include "text/fail.h"
#include "text/transformers/safetensors_writer.h"

namespace tenfold {

using decoders::CalibrationSamples;
using decoders::NarrowLayer;
using tokenizing::fail;
using transformers::LinearLayer;
using transformers::NarrowForm;
using transformers::NarrowLayout;
using transformers::SafetensorsWriter;
using transformers::Weights;
namespace fs = std::filesystem;

namespace {

bool is_gpt2(const decoders::Model& model) { return model.architecture->table == decoders::gpt2().table; }

// What compressed-tensors calls Linear, without what it is told to ignore; of GPT-2, its Conv1D.
bool is_linear(const decoders::Model& model, const std::string& name) {
  const transformers::TensorPlace& place = model.weights.place(name);
  return name.ends_with(".weight") && place.shape.size() == 2 && place.bytes > 0 && name != model.prefix + model.architecture->table &&
         name != "lm_head.weight" && (!is_gpt2(model) || name.starts_with(model.prefix + "h."));
}

LinearLayer layer_of(const decoders::Model& model, const std::string& tensor) {
  const Shape& shape = model.weights.place(tensor).shape;
  const bool by_input = is_gpt2(model);
  return {.name = tensor.substr(0, tensor.size() - std::string(".weight").size()), .in = shape[by_input ? 0 : 1],
          .out = shape[by_input ? 1 : 0], .by_input = by_input};
}

const NarrowLayout& layout_of(const decoders::Model& model) {
  return is_gpt2(model) ? transformers::gptq_layout() : transformers::compressed_layout();
}

void check(const QuantizeDecoderOptions& options) {
  static const std::set<std::string> methods{"rtn", "gptq", "awq"};
  if (!methods.contains(options.method))
    fail(ErrorKind::invalid_argument, "method is '" + options.method + "'; rtn, gptq or awq was expected");
  if (options.method != "rtn" && options.texts.empty())
    fail(ErrorKind::invalid_argument, "method is '" + options.method + "', which needs texts as the model will read (--data=TEXTS, one a "
                                      "line); rtn needs none");
  for (const auto& [name, value] : {std::pair{"samples", options.samples}, std::pair{"max_tokens", options.max_tokens}})
    if (value < 2) fail(ErrorKind::invalid_argument, std::string(name) + " is " + std::to_string(value) + ", 2 or more was expected");
}

void check(const decoders::Model& model, const NarrowForm& form) {
  for (const std::string& name : model.weights.names()) {
    if (!is_linear(model, name)) continue;
    const DType type = model.weights.place(name).type;
    const LinearLayer layer = layer_of(model, name);
    if (type != DType::f32 && type != DType::f16 && type != DType::bf16)
      fail(ErrorKind::unsupported, "the tensor '" + name + "' is " + std::string(tenfold::name(type)) + "; f32, f16 and bf16 are read");
    if (form.fp4 != transformers::Fp4::none && is_gpt2(model))
      fail(ErrorKind::unsupported, "weights is '" + form.text() +
                                       "', but GPT-2's layers are written in GPTQ's layout, which has integers "
                                       "alone; take int4:g32");
    if (form.group > 0 && layer.in % form.group != 0)
      fail(ErrorKind::invalid_argument, "groups of " + std::to_string(form.group) + " do not divide the " + std::to_string(layer.in) +
                                            " inputs of '" + layer.name + "'; take " +
                                            (form.fp4 != transformers::Fp4::none ? "int4 or int8" : "groups that do, or none") +
                                            " (a scale for each output)");
    if (const std::int64_t of_word = 32 / form.bits; is_gpt2(model) && (layer.in % of_word != 0 || layer.out % of_word != 0))
      fail(ErrorKind::unsupported, "the layer '" + layer.name + "' has " + std::to_string(layer.in) + " inputs and " +
                                       std::to_string(layer.out) + " outputs; GPTQ's layout, which GPT-2 is written in, has multiples of " +
                                       std::to_string(of_word));
  }
}

// What is neither weights nor config.json.
void copy_others(const std::string& folder, const std::string& output) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string(), kind = entry.path().extension().string();
    static const std::set<std::string> weights{".safetensors", ".bin", ".gguf", ".onnx", ".pt", ".pth", ".h5", ".msgpack", ".ot", ".ckpt"};
    if (entry.is_regular_file() && !weights.contains(kind) && name != "config.json" && !name.ends_with(".index.json"))
      fs::copy_file(entry.path(), fs::path(output) / name);
  }
}

// Without data: a tensor at a time, while the file is written.
NarrowLayer rounded(const decoders::Model& model, const std::string& tensor, const NarrowForm& form) {
  const LinearLayer layer = layer_of(model, tensor);
  const NarrowLayout& layout = layout_of(model);
  const Tensor floats = model.weights.take_any(tensor);
  const std::vector<float> matrix = transformers::matrix_of(floats, layer);
  const transformers::RoundedMatrix r = transformers::round_to_range(matrix, layer, form, layout.scale_type(floats.dtype()));
  return {layout.packed(r), {.name = layer.name, .error = transformers::relative_error(matrix, r)}};
}

QuantizeDecoderReport write(const decoders::Model& model, const std::string& output, const NarrowForm& form,
                            const std::map<std::string, NarrowLayer>& made) {
  QuantizeDecoderReport report;
  const Weights& weights = model.weights;
  SafetensorsWriter writer;
  for (const std::string& name : weights.names()) {
    const transformers::TensorPlace& place = weights.place(name);
    report.bytes_before += static_cast<std::int64_t>(place.bytes);
    if (!is_linear(model, name)) {
      writer.add(name, place.type, place.shape);
      continue;
    }
    const LinearLayer layer = layer_of(model, name);
    for (const transformers::NarrowPart& part : layout_of(model).parts(layer, form, place.type))
      writer.add(layer.name + part.suffix, part.type, part.shape);
  }
  const std::string path = output + "/model.safetensors";
  writer.begin(path);
  for (const std::string& name : weights.names()) {
    throw_if_cancelled();
    if (!is_linear(model, name)) {
      writer.write(weights.take_any(name));
      continue;
    }
    const auto at = made.find(layer_of(model, name).name);
    const NarrowLayer one = at != made.end() ? at->second : rounded(model, name, form);
    for (const Tensor& part : one.parts) writer.write(part);
    report.layers.push_back(one.report);
  }
  writer.finish();
  report.bytes_after = static_cast<std::int64_t>(fs::file_size(path));
  copy_others(model.path, output);
  nlohmann::json config = model.config;
  config["quantization_config"] = layout_of(model).quantization_config(form);
  std::ofstream file(output + "/config.json");
  file << config.dump(2) << "\n";
  if (!file.flush()) fail(ErrorKind::io, "'" + output + "/config.json' cannot be written");
  return report;
}

// A new folder, which becomes `output` when it is whole.
std::string folder_beside(const std::string& output) {
  std::error_code error;
  fs::create_directories(fs::path(output).parent_path(), error);
  std::random_device random;
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    std::string partial = output + ".partial-" + std::to_string(random());
    if (fs::create_directory(partial, error)) return partial;   // false: somebody has one of that name
    if (error) fail(ErrorKind::io, "the folder '" + partial + "' cannot be made: " + error.message());
  }
  fail(ErrorKind::io, "no folder beside '" + output + "' can be made");
}

// What was written, beside what was read.
DecoderEvaluation evaluated(const std::string& folder, const std::string& output, const std::vector<std::string>& texts,
                            std::int64_t places, const QuantizeDecoderOptions& options) {
  DecoderOptions exact;
  exact.build.tf32 = false, exact.build.threads = options.threads, exact.build.optimization_level = 0;
  exact.cache.reset();
  exact.max_length = static_cast<int>(std::min<std::int64_t>(options.max_tokens, places));
  const Decoder before = load_for_evaluation(folder, exact), after = load_for_evaluation(output, exact);
  return evaluate_decoder(after, texts, &before);
}

QuantizeDecoderReport quantize(const std::string& folder, const std::string& given, const std::string& text,
                               const QuantizeDecoderOptions& options) {
  const std::string output = (fs::path(given) / "").parent_path().string();   // without a separator behind it
  const NarrowForm form = transformers::narrow_form(text);
  check(options);
  if (form.fp4 != transformers::Fp4::none && options.method != "rtn")
    fail(ErrorKind::unsupported, "method is '" + options.method + "', but " + form.text() + " is rounded to the nearest; take rtn");
  decoders::Model model = decoders::read_model(folder, {});
  if (!model.architecture)
    fail(ErrorKind::unsupported, "it is an ONNX file; give a folder with safetensors, or round the file itself (tenfold quantize FILE)");
  if (model.narrow)
    fail(ErrorKind::unsupported, "its weights are quantized already (" + model.narrow->text() + "); take the model in floats");
  check(model, form);
  std::error_code error;
  if (fs::exists(output, error)) fail(ErrorKind::io, "'" + output + "' exists; give a folder that does not, which is then made");
  std::optional<CalibrationSamples> samples;
  std::map<std::string, NarrowLayer> made;
  if (!options.texts.empty()) {
    samples = decoders::read_samples(Tokenizer::load(model.tokenizer), options, model.cache.capacity, model.vocabulary);
    made = decoders::calibrated_layers(model, form, layout_of(model), *samples, options);
  }
  const std::string partial = folder_beside(output);   // a folder of the name that was given is whole
  try {
    QuantizeDecoderReport report = write(model, partial, form, made);
    model.forget(), made.clear();
    if (samples) report.calibration_tokens = samples->used_tokens();
    fs::rename(partial, output);   // what was written stays, even if it cannot be evaluated
    if (samples) report.evaluation = evaluated(folder, output, samples->held_out, model.cache.capacity, options);
    return report;
  } catch (const fs::filesystem_error& e) {
    fs::remove_all(partial, error);
    fail(ErrorKind::io, e.what());
  } catch (...) {
    fs::remove_all(partial, error);
    throw;
  }
}

}  // namespace

QuantizeDecoderReport quantize_decoder(const std::string& folder, const std::string& output, const std::string& weights,
                                       const QuantizeDecoderOptions& options) {
  try {
    return as_error([&] { return quantize(folder, output, weights, options); });
  } catch (Error& e) {
    throw e.within("quantizing the decoder '" + folder + "'");
  }
}

}  // namespace tenfold
