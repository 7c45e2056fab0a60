#include "text/decoders/model.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tenfold/device.h"
#include "tenfold/plan_cache.h"
#include "text/fail.h"
#include "text/transformers/json_file.h"

namespace tenfold::decoders {

using tokenizing::fail;
using tokenizing::Json;
using transformers::read_json;
using transformers::read_json_if_there;

namespace {

constexpr int kUsualLength = 4096;   // at most, where nobody asks for more: models have places for many more than caches have room

const Architecture* architecture_of(const std::string& folder, const Json& config) {
  const std::string type = config.has("model_type") ? config.text("model_type") : "";
  const Architecture* found = find_architecture(type);
  if (!found)
    fail(ErrorKind::unsupported, "'" + folder + "': decoders of model_type '" + type + "' are not built from their weights (" +
                                     known_architectures() + " are)");
  if (config.has("quantization_config"))
    fail(ErrorKind::unsupported, "'" + folder + "': weights that config.json's quantization_config describes are not read; save the "
                                 "model in fp32, fp16 or bf16");
  return found;
}

Weights weights_of(const std::string& folder) {
  std::optional<Weights> weights = Weights::read(folder);
  if (!weights)
    fail(ErrorKind::io, "'" + folder + "' has no model.safetensors and no shards of it; pytorch_model.bin is a program in Python's "
                        "pickle format and is never run: save_pretrained(..., safe_serialization=True) writes the other");
  return std::move(*weights);
}

// A number, a list of numbers, or nothing.
void read_end_tokens(const Json& from, std::vector<std::int32_t>& to) {
  if (!from.has("eos_token_id")) return;
  const nlohmann::json& value = from.at("eos_token_id").value;
  for (const nlohmann::json& one : value.is_array() ? value : nlohmann::json::array({value})) {
    if (!one.is_number_integer() || one < 0 || one > INT32_MAX) from.wrong("eos_token_id is neither a token's id nor a list of them");
    if (const auto id = one.get<std::int32_t>(); !std::count(to.begin(), to.end(), id)) to.push_back(id);
  }
}

std::int64_t capacity_of(const Model& model, const DecoderOptions& options) {
  const auto places = model.json().number(model.architecture->places.c_str(), 1, 1 << 30);
  if (options.max_length < 0 || options.max_length > places)
    fail(ErrorKind::invalid_argument, "max_length is " + std::to_string(options.max_length) + ", but the model has places for " +
                                          std::to_string(places) + " tokens; give 1 to so many, or 0");
  return options.max_length > 0 ? options.max_length : std::min<std::int64_t>(places, kUsualLength);
}

// Keys and values have the 16 bits that attention computes with, where the build permits some; CPUs have no fp16.
DType cache_type(const BuildConfig& build) {
  const bool gpu = is_gpu(build.device);
  if (build.bf16) return DType::bf16;
  if (gpu) return build.fp16 || build.auto_precision ? DType::f16 : DType::f32;
  if (!build.auto_precision || build.cpu_features != 0) return DType::f32;
  return devices().front().features.find("amxbf16") != std::string::npos ? DType::bf16 : DType::f32;   // as auto_precision chooses
}

}  // namespace

Model read_model(const std::string& folder, const DecoderOptions& options) {
  std::error_code none;
  if (!std::filesystem::is_directory(folder, none))
    fail(ErrorKind::io, "'" + folder + "' is no folder; a decoder is a folder with config.json, a tokenizer and weights");
  const nlohmann::json config = read_json(folder + "/config.json");
  const Json fields{config, "config.json"};
  const Architecture* architecture = architecture_of(folder, fields);
  Model model{.path = folder, .config = config, .architecture = architecture, .weights = weights_of(folder), .prefix = "", .cache = {},
              .end_tokens = {}, .identity = ""};
  if (model.weights.has(architecture->prefix + architecture->table)) model.prefix = architecture->prefix;
  model.cache = architecture->cache(model.json());
  model.cache.capacity = capacity_of(model, options);
  model.cache.type = cache_type(options.build);
  const Shape table = model.weights.shape(model.prefix + architecture->table, {-1, -1});
  model.vocabulary = table[0], model.width = table[1];
  model.speculate = std::min<std::int64_t>(options.speculate, model.cache.capacity - 1);
  read_end_tokens(model.json(), model.end_tokens);
  const nlohmann::json generation = read_json_if_there(folder + "/generation_config.json");
  read_end_tokens({generation, "generation_config.json"}, model.end_tokens);
  return model;
}

std::string identity_of(const Model& model) {
  std::string text = model.config.dump() + "\n";
  for (const auto& file : model.weights.files()) text += plan_key(std::span(file->bytes().get(), file->size()), {}) + "\n";
  return text;
}

// Output weights may be those of the embeddings: where config.json says so, or says nothing and there are no others.
std::string Model::head() const {
  const bool own = weights.has("lm_head.weight"), tied = json().flag("tie_word_embeddings", !own);
  if (!tied && !own) json().wrong("tie_word_embeddings is false, but the weights have no lm_head.weight");
  return tied ? prefix + architecture->table : "lm_head.weight";
}

Network Model::network() const {
  const std::string name = std::filesystem::path(path).filename().string();
  Network net(name.empty() ? "decoder" : name);
  const Blocks b(net, weights);
  const Json fields = json();
  const NetworkTensor ids = net.input("ids", DType::i32, {"batch", "tokens"}),
                      positions = net.input("positions", DType::i32, {"batch", "tokens"});
  const NetworkTensor last = net.input("last", DType::i32, {speculate > 0 ? "rows" : "batch"});
  CachedAttention attention(b, cache, positions);
  const NetworkTensor hidden = architecture->hidden({b, fields, prefix, ids, positions, attention});
  const NetworkTensor rows = net.gather(net.shuffle(hidden, {}, Shape{-1, width}), last);
  net.mark_output(net.matrix_multiply(rows, b.weight(head(), {vocabulary, width}), false, true), "logits");
  return net;
}

}  // namespace tenfold::decoders
