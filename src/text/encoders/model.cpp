#include "text/encoders/model.h"

#include <algorithm>
#include <filesystem>

#include "text/transformers/json_file.h"
#include "text/fail.h"

namespace tenfold::encoders {

using tokenizing::fail;
using tokenizing::Json;

namespace {

[[noreturn]] void no_weights(const Folder& folder) {
  std::error_code none;
  const bool pickled = std::filesystem::exists(folder.transformer + "/pytorch_model.bin", none);
  const std::string found = "'" + folder.transformer + "' has no model.safetensors, no shards of it and no model.onnx";
  if (!pickled) fail(ErrorKind::io, found);
  fail(ErrorKind::unsupported, found +
                                   ", only pytorch_model.bin, which is a program in Python's pickle format and is never run. "
                                   "Where torch is, load it once and save it with save_pretrained(..., safe_serialization=True)");
}

NetworkTensor by_function(const Blocks& b, NetworkTensor scores, ScoreFunction function) {
  if (function == ScoreFunction::sigmoid) return b.net.activation(Activation::sigmoid, scores);
  if (function == ScoreFunction::softmax) return b.net.softmax(scores);
  return scores;
}

NetworkTensor scores(const Texts& texts, const Architecture& architecture, NetworkTensor tokens) {
  const Blocks& b = texts.blocks;
  if (architecture.head_takes_mean && architecture.head_takes_mean(texts.config))
    return architecture.head(texts, b.net.reduce(Reduce::mean, tokens, {1}, false));
  const NetworkTensor first = b.net.add_node("Slice", {tokens, b.integers({0}), b.integers({1}), b.integers({1})})[0];
  return architecture.head(texts, b.net.add_node("Squeeze", {first, b.integers({1})})[0]);
}

// Models with a head have a prefix in front of the encoder's names; a table that is shared has one of several names.
void name_weights(Model& model) {
  for (const std::string& prefix : {model.architecture->prefix, std::string()})
    for (const std::string& table : model.architecture->tables)
      if (model.weights->has(prefix + table)) return void((model.prefix = prefix, model.table = prefix + table));
  model.table = model.architecture->tables.front();  // which is told to be missing
}

}  // namespace

Model read_model(const std::string& path) {
  Model model;
  model.folder = read_folder(path);
  const std::string type = model.folder.json().has("model_type") ? model.folder.json().text("model_type") : "";
  model.architecture = find_architecture(type);
  if (model.architecture) model.weights = Weights::read(model.folder.transformer);
  if (model.architecture && !model.weights && model.folder.onnx.empty()) no_weights(model.folder);
  if (model.folder.is_classifier() && !model.folder.modules.empty())
    fail(ErrorKind::unsupported, "'" + path + "/modules.json': modules after a classification head are not supported, and it has " +
                                     model.folder.modules.front().type);
  if (!model.weights) {
    model.architecture = nullptr;
    if (model.folder.onnx.empty())
      fail(ErrorKind::unsupported, "'" + path + "': encoders of model_type '" + type + "' are not built from their weights (" +
                                       known_architectures() +
                                       " are); export it to ONNX and put the file beside config.json as model.onnx: " +
                                       "optimum-cli export onnx --model FOLDER --task feature-extraction OUT");
  } else {
    if (model.folder.is_classifier() && !model.architecture->head)
      fail(ErrorKind::unsupported, "'" + path + "': heads of scores of model_type '" + type + "' are not supported");
    name_weights(model);
  }
  for (const Module& module : model.folder.modules)
    if (module.type == "Pooling") model.counts_prompts = module.json().flag("include_prompt", true);
  return model;
}

// The folder has torch's name of it: versions from 6 on in a file of their own, from 4 on in config.json, older ones there, too.
ScoreFunction score_function(const Model& model, int labels) {
  const Json config = model.folder.json();
  std::string activation = model.folder.activation;
  if (activation.empty() && config.has("sentence_transformers") && config.at("sentence_transformers").has("activation_fn"))
    activation = config.at("sentence_transformers").text("activation_fn");
  if (activation.empty() && config.has("sbert_ce_default_activation_function"))
    activation = config.text("sbert_ce_default_activation_function");
  if (activation.empty()) return labels == 1 ? ScoreFunction::sigmoid : ScoreFunction::none;
  if (activation.ends_with(".Sigmoid")) return ScoreFunction::sigmoid;
  if (activation.ends_with(".Identity")) return ScoreFunction::none;
  if (activation.ends_with(".Softmax")) return ScoreFunction::softmax;
  config.wrong("the activation '" + activation + "' of scores is none of Sigmoid, Identity and Softmax");
}

int max_places(const Model& model) {
  const Json config = model.folder.json();
  if (!config.has("max_position_embeddings")) return 0;
  const int reserved = model.architecture ? model.architecture->reserved_positions : 0;
  return static_cast<int>(config.number("max_position_embeddings", reserved + 1, 1 << 24)) - reserved;
}

namespace {

Network pooling_network(const Model& model, const OutputRequest& request, const EncoderOptions& options) {
  const Network before = model.network({.output = OutputRequest::tokens}, options);
  const std::int64_t width = before.dims(before.outputs().front()).back().extent;
  Network net("pooling");
  static const Weights none;
  const Blocks blocks(net, model.weights ? *model.weights : none);
  const NetworkTensor tokens = net.input("tokens", DType::f32, {"texts", "tokens", width});
  net.mark_output(run_modules(model, blocks, tokens, request, options), "out");
  return net;
}

}  // namespace

Network Model::network(const OutputRequest& request, const EncoderOptions& options) const {
  if (request.output == OutputRequest::pooling) return pooling_network(*this, request, options);
  const std::string name = std::filesystem::path(folder.path).filename().string();
  Network net(name.empty() ? "encoder" : name);
  NetworkTensor tokens, mask;
  if (architecture) {
    const Json config = folder.json();
    Blocks blocks(net, *weights);
    Texts texts{blocks, config, prefix, table, net.input("ids", DType::i32, {"texts", "tokens"}), {}};
    if (request.packed) blocks.set_mask(mask = net.input("mask", DType::boolean, {"texts", "tokens"}));
    if (request.output == OutputRequest::scores && has_types()) texts.types = net.input("types", DType::i32, {"texts", "tokens"});
    tokens = architecture->tokens(texts);
    if (request.output == OutputRequest::scores) {
      net.mark_output(by_function(blocks, scores(texts, *architecture, tokens), request.function), "out");
      return net;
    }
  } else {
    if (request.output == OutputRequest::scores)
      fail(ErrorKind::unsupported, "'" + folder.path + "': scores are computed from safetensors, and the folder has an ONNX file alone");
    net = read_onnx(*this, options, tokens);
  }
  static const Weights none;
  Blocks blocks(net, weights ? *weights : none);
  blocks.mask = mask;
  net.mark_output(run_modules(*this, blocks, tokens, request, options), "out");
  net.remove_unused();
  return net;
}

}  // namespace tenfold::encoders
