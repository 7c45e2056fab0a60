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

}  // namespace

Model read_model(const std::string& folder, const DecoderOptions& options) {
  std::error_code none;
  if (!std::filesystem::is_directory(folder, none))
    fail(ErrorKind::io, "'" + folder + "' is no folder; a decoder is a folder with config.json, a tokenizer and weights");
  const nlohmann::json config = read_json(folder + "/config.json");
  const Json fields{config, "config.json"};
  const Architecture* architecture = architecture_of(folder, fields);
  Model model{.path = folder, .config = config, .architecture = architecture, .weights = weights_of(folder), .narrow = {}, .prefix = "",
              .cache = {}, .end_tokens = {}, .identity = ""};
  model.narrow = transformers::narrow_weights(fields, options.weights);
  if (!options.weights.empty() && is_gpu(options.build.device))
    fail(ErrorKind::unsupported, "weights is '" + options.weights + "', but the device is " + options.build.device +
                                     "; products with narrow weights are computed on CPUs. Leave weights out");
  if (model.weights.has(architecture->prefix + architecture->table)) model.prefix = architecture->prefix;
  model.cache = architecture->cache(model.json());
  model.cache.capacity = capacity_of(model, options);
  if (options.build.bf16) model.cache.type = DType::bf16;
  else if (options.build.fp16 && is_gpu(options.build.device)) model.cache.type = DType::f16;
  const Shape table = model.weights.shape(model.prefix + architecture->table, {-1, -1});
  model.vocabulary = table[0], model.width = table[1];
  read_end_tokens(model.json(), model.end_tokens);
  const nlohmann::json generation = read_json_if_there(folder + "/generation_config.json");
  read_end_tokens({generation, "generation_config.json"}, model.end_tokens);
  return model;
}

std::string identity_of(const Model& model) {
  std::string text = model.config.dump() + "\n";
  if (model.narrow) text += model.narrow->text() + "\n";
  for (const auto& file : model.weights.files()) {
    text += plan_key(std::span(file->bytes().get(), file->size()), {}) + "\n";
    if (model.narrow) file->forget();   // which are read tensor by tensor
  }
  return text;
}

Network Model::network() const {
  const std::string name = std::filesystem::path(path).filename().string();
  Network net(name.empty() ? "decoder" : name);
  Blocks b(net, weights);
  b.narrow = narrow;
  const Json fields = json();
  const NetworkTensor ids = net.input("ids", DType::i32, {"batch", "tokens"}),
                      positions = net.input("positions", DType::i32, {"batch", "tokens"});
  const NetworkTensor last = net.input("last", DType::i32, {"batch"});
  CachedAttention attention(b, cache, positions);
  const NetworkTensor hidden = architecture->hidden({b, fields, prefix, ids, positions, attention});
  const NetworkTensor rows = net.gather(net.shuffle(hidden, {}, Shape{-1, width}), last);
  // Output weights may be those of the embeddings.
  const std::string table = prefix + architecture->table, head = table.substr(0, table.rfind(".weight"));
  const transformers::LinearLayer layer{
      .name = weights.has_layer("lm_head") ? "lm_head" : head, .in = width, .out = vocabulary, .gives_logits = true};
  net.mark_output(b.product(rows, layer), "logits");
  return net;
}

}  // namespace tenfold::decoders
