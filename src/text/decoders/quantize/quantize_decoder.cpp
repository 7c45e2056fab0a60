// A folder in the layout of compressed-tensors: each linear layer as `weight_packed`, `weight_scale` and `weight_shape`.
#include "tenfold/quantize_decoder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "tenfold/internal/as_error.h"
#include "text/decoders/model.h"
#include "text/fail.h"
#include "text/transformers/narrow/pack_steps.h"
#include "text/transformers/safetensors_writer.h"

namespace tenfold {

using tokenizing::fail;
using transformers::NarrowForm;
using transformers::SafetensorsWriter;
using transformers::Weights;
namespace fs = std::filesystem;

namespace {

// What compressed-tensors calls Linear, without what it is told to ignore.
bool is_linear(const decoders::Model& model, const std::string& name) {
  const transformers::TensorPlace& place = model.weights.place(name);
  return name.ends_with(".weight") && place.shape.size() == 2 && place.bytes > 0 && name != model.prefix + model.architecture->table &&
         name != "lm_head.weight";
}

std::string layer_of(const std::string& tensor) { return tensor.substr(0, tensor.size() - std::string(".weight").size()); }

nlohmann::json config_of(const decoders::Model& model, const NarrowForm& form) {
  nlohmann::json config = model.config;
  const bool groups = form.group > 0;
  const nlohmann::json weights{{"num_bits", form.bits},
                               {"type", "int"},
                               {"symmetric", true},
                               {"strategy", groups ? "group" : "channel"},
                               {"group_size", groups ? nlohmann::json(form.group) : nlohmann::json()},
                               {"dynamic", false},
                               {"observer", "minmax"}};
  config["quantization_config"] = {{"quant_method", "compressed-tensors"},
                                   {"format", "pack-quantized"},
                                   {"quantization_status", "compressed"},
                                   {"ignore", {"lm_head"}},
                                   {"config_groups",
                                    {{"group_0", {{"targets", {"Linear"}}, {"weights", weights}, {"input_activations", nullptr},
                                                  {"output_activations", nullptr}}}}}};
  return config;
}

void check(const decoders::Model& model, const NarrowForm& form) {
  if (model.architecture->table == decoders::gpt2().table)
    fail(ErrorKind::unsupported, "layers of GPT-2 are no Linear, and compressed-tensors has no other; give Decoder the option weights");
  for (const std::string& name : model.weights.names()) {
    if (!is_linear(model, name)) continue;
    const DType type = model.weights.place(name).type;
    const std::int64_t in = model.weights.place(name).shape[1];
    if (type != DType::f32 && type != DType::f16 && type != DType::bf16)
      fail(ErrorKind::unsupported, "the tensor '" + name + "' is " + std::string(tenfold::name(type)) + "; f32, f16 and bf16 are read");
    if (form.group > 0 && in % form.group != 0)
      fail(ErrorKind::invalid_argument, "groups of " + std::to_string(form.group) + " do not divide the " + std::to_string(in) +
                                            " inputs of '" + layer_of(name) + "'; take groups that do, or none (a scale for each output)");
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

QuantizeDecoderReport write(const decoders::Model& model, const std::string& output, const NarrowForm& form) {
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
    const std::int64_t out = place.shape[0], in = place.shape[1], of_word = 32 / form.bits;
    writer.add(name + "_packed", DType::i32, {out, (in + of_word - 1) / of_word});
    writer.add(name + "_scale", place.type, {out, in / form.block(in)});
    writer.add(name + "_shape", DType::i64, {2});
  }
  const std::string path = output + "/model.safetensors";
  writer.begin(path);
  for (const std::string& name : weights.names()) {
    if (!is_linear(model, name)) {
      writer.write(weights.take_any(name));
      continue;
    }
    try {
      const transformers::PackedSteps packed = transformers::pack_steps(weights.take_any(name), form);
      writer.write(packed.words), writer.write(packed.scales), writer.write(packed.shape);
      report.layers.push_back({layer_of(name), packed.error});
    } catch (Error& e) {
      throw e.within("the tensor '" + name + "'");
    }
  }
  writer.finish();
  report.bytes_after = static_cast<std::int64_t>(fs::file_size(path));
  copy_others(model.path, output);
  std::ofstream config(output + "/config.json");
  config << config_of(model, form).dump(2) << "\n";
  if (!config.flush()) fail(ErrorKind::io, "'" + output + "/config.json' cannot be written");
  return report;
}

QuantizeDecoderReport quantize(const std::string& folder, const std::string& output, const std::string& text) {
  const NarrowForm form = transformers::narrow_form(text);
  const decoders::Model model = decoders::read_model(folder, {});
  if (!model.architecture)
    fail(ErrorKind::unsupported, "it is an ONNX file; give a folder with safetensors, or round the file itself (tenfold quantize FILE)");
  if (model.narrow)
    fail(ErrorKind::unsupported, "its weights are quantized already (" + model.narrow->text() + "); take the model in floats");
  check(model, form);
  std::error_code error;
  if (fs::exists(output, error)) fail(ErrorKind::io, "'" + output + "' exists; give a folder that does not, which is then made");
  const std::string partial = output + ".partial";   // a folder of the name that was given is whole
  fs::remove_all(partial, error);
  if (!fs::create_directories(partial, error)) fail(ErrorKind::io, "the folder '" + partial + "' cannot be made: " + error.message());
  try {
    QuantizeDecoderReport report = write(model, partial, form);
    fs::rename(partial, output);
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

QuantizeDecoderReport quantize_decoder(const std::string& folder, const std::string& output, const std::string& weights) {
  try {
    return as_error([&] { return quantize(folder, output, weights); });
  } catch (Error& e) {
    throw e.within("quantizing the decoder '" + folder + "'");
  }
}

}  // namespace tenfold
