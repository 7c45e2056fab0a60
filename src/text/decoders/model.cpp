#include "text/decoders/model.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tenfold/device.h"
#include "tenfold/plan_cache.h"
#include "text/decoders/end_tokens.h"
#include "text/decoders/onnx/rewrite.h"
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
  return found;
}

Weights weights_of(const std::string& folder) {
  std::optional<Weights> weights = Weights::read(folder);
  if (!weights)
    fail(ErrorKind::io, "'" + folder + "' has no model.safetensors and no shards of it; pytorch_model.bin is a program in Python's "
                        "pickle format and is never run: save_pretrained(..., safe_serialization=True) writes the other");
  return std::move(*weights);
}

std::int64_t capacity_of(const Model& model, const DecoderOptions& options) {
  const auto places = model.json().number(model.architecture->places.c_str(), 1, 1 << 30);
  if (options.max_length < 0 || options.max_length > places)
    fail(ErrorKind::invalid_argument, "max_length is " + std::to_string(options.max_length) + ", but the model has places for " +
                                          std::to_string(places) + " tokens; give 1 to so many, or 0");
  return options.max_length > 0 ? options.max_length : std::min<std::int64_t>(places, kUsualLength);
}

// Keys and values have the 16 bits that attention computes with, where the build permits some; CPUs have no fp16.
DType usual_cache_type(const BuildConfig& build) {
  const bool gpu = is_gpu(build.device);
  if (build.bf16) return DType::bf16;
  if (gpu) return build.fp16 || build.auto_precision ? DType::f16 : DType::f32;
  if (!build.auto_precision || build.cpu_features != 0) return DType::f32;
  return devices().front().features.find("amxbf16") != std::string::npos ? DType::bf16 : DType::f32;   // as auto_precision chooses
}

void check_cache_type(const DecoderOptions& options) {
  if (options.kv_cache_dtype.empty()) return;
  if (options.kv_cache_dtype != "int8")
    fail(ErrorKind::invalid_argument, "kv_cache_dtype is '" + options.kv_cache_dtype +
                                          "'; int8 or nothing was expected: without it keys "
                                          "and values have the 16 or 32 bits that attention computes with");
  if (is_gpu(options.build.device))
    fail(ErrorKind::unsupported, "kv_cache_dtype is 'int8', but the device is " + options.build.device +
                                     "; keys and values of 8 bits are read by CPUs. Leave kv_cache_dtype out");
}

Model read_onnx(const onnx::Place& place, const DecoderOptions& options) {
  if (!options.weights.empty())
    fail(ErrorKind::unsupported, "weights is '" + options.weights + "', but '" + place.file + "' is an ONNX file, whose weights stay as "
                                     "they are: leave weights out, or give a folder with safetensors");
  const onnx::Config config = onnx::read_config(place.folder);
  onnx::Rewritten made = onnx::rewrite(place, config, options);
  Model model{.path = place.file, .tokenizer = place.folder, .type = config.type};
  model.rewritten = std::make_shared<Network>(std::move(made.network));
  model.exact_places = made.exact_places;
  model.cache = made.cache, model.vocabulary = made.vocabulary, model.end_tokens = config.end_tokens;
  model.speculate = std::min<std::int64_t>(options.speculate, model.cache.capacity - 1);
  return model;
}

}  // namespace

Model read_model(const std::string& folder, const DecoderOptions& options) {
  check_cache_type(options);
  std::error_code none;
  if (const auto place = onnx::find_model(folder)) return read_onnx(*place, options);
  if (!std::filesystem::is_directory(folder, none))
    fail(ErrorKind::io, "'" + folder + "' is no folder and no ONNX file; a decoder is a folder with config.json, a tokenizer and "
                        "weights, or with an ONNX file");
  const nlohmann::json config = read_json(folder + "/config.json");
  const Json fields{config, "config.json"};
  const Architecture* architecture = architecture_of(folder, fields);
  Model model{.path = folder, .tokenizer = folder, .type = fields.text("model_type"), .config = config, .architecture = architecture,
              .weights = weights_of(folder), .narrow = {}, .prefix = "", .rewritten = nullptr, .cache = {}, .end_tokens = {}};
  model.narrow = transformers::narrow_weights(fields, options.weights);
  const BuildConfig& build = options.build;
  const bool rounds = build.tf32 || build.fp16 || build.bf16 || build.auto_precision;
  if (!options.weights.empty() && is_gpu(build.device) && !rounds)
    fail(ErrorKind::unsupported, "weights is '" + options.weights + "' and tf32 is false, but the device is " + build.device +
                                     ", whose kernels round the sums of products with narrow weights: permit tf32, fp16 or bf16, or leave "
                                     "weights out");
  if (model.narrow && is_gpu(build.device) && model.narrow->text().ends_with("fp4"))
    fail(ErrorKind::unsupported, "its linear layers' weights are " + model.narrow->text() + ", but the device is " + build.device +
                                     "; products with weights of 4-bit floats are computed on CPUs. Take int4:g32, or leave weights out");
  if (model.weights.has(architecture->prefix + architecture->table)) model.prefix = architecture->prefix;
  model.cache = architecture->cache(model.json());
  model.cache.capacity = capacity_of(model, options);
  model.cache.type = options.kv_cache_dtype.empty() ? usual_cache_type(options.build) : DType::i8;
  const Shape table = model.weights.shape(model.prefix + architecture->table, {-1, -1});
  model.vocabulary = table[0], model.width = table[1];
  model.speculate = std::min<std::int64_t>(options.speculate, model.cache.capacity - 1);
  read_end_tokens(model.json(), model.end_tokens);
  const nlohmann::json generation = read_json_if_there(folder + "/generation_config.json");
  read_end_tokens({generation, "generation_config.json"}, model.end_tokens);
  return model;
}

std::string identity_of(const Model& model, const BuildConfig& options, const PlanCache& cache) {
  BuildConfig places;
  places.external_data_dirs = options.external_data_dirs;
  if (model.rewritten) return "onnx " + plan_key(model.path, places, &cache) + "\n";
  std::string text = model.config.dump() + "\n";
  if (model.narrow) text += model.narrow->text() + "\n";
  for (const auto& file : model.weights.files()) {
    text += cache.file_hash(file->path()) + "\n";
    file->expect_at_path();   // else the plan of the opened file would be kept under the hash of another
  }
  return text;
}

// Output weights may be those of the embeddings: where config.json says so, or says nothing and there are no others.
std::string Model::head() const {
  const bool own = weights.has_layer("lm_head"), tied = json().flag("tie_word_embeddings", !own);
  if (!tied && !own) json().wrong("tie_word_embeddings is false, but the weights have no lm_head.weight");
  const std::string table = prefix + architecture->table;
  return tied ? table.substr(0, table.rfind(".weight")) : "lm_head";
}

void Model::forget() const {
  weights.forget();
  if (rewritten) *rewritten = Network();
}

Engine Model::built(const BuildConfig& options) const {
  return rewritten ? build(*rewritten, options) : build(network(), options);
}

Network Model::network() const {
  const std::string name = std::filesystem::path(path).filename().string();
  Network net(name.empty() ? "decoder" : name);
  Blocks b(net, weights);
  b.narrow = narrow;
  const Json fields = json();
  const NetworkTensor ids = net.input("ids", DType::i32, {"batch", "tokens"}),
                      positions = net.input("positions", DType::i32, {"batch", "tokens"});
  const NetworkTensor last = net.input("last", DType::i32, {speculate > 0 ? "rows" : "batch"});
  CachedAttention attention(b, cache, positions);
  const NetworkTensor rows = architecture->hidden({b, fields, prefix, ids, positions, last, attention});
  const transformers::LinearLayer layer{.name = head(), .in = width, .out = vocabulary, .gives_logits = true};
  net.mark_output(b.product(rows, layer), "logits");
  return net;
}

}  // namespace tenfold::decoders
