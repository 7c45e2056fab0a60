// What sentence-transformers puts behind the transformer: pooling, dense layers, norms.
#include <algorithm>

#include "text/encoders/model.h"
#include "text/encoders/pooling/pooling.h"
#include "text/fail.h"

namespace tenfold::encoders {

using tokenizing::fail;
using tokenizing::Json;

namespace {

std::int64_t width_of(const Blocks& b, NetworkTensor x) { return b.net.dims(x).back().extent; }

std::string known_poolings() {
  std::string names;
  for (const Pooling& one : poolings()) names += (names.empty() ? "" : ", ") + std::string(one.name);
  return names;
}

NetworkTensor pooled(const Blocks& b, const Json& config, NetworkTensor x, int skipped) {
  const char* width = config.has("embedding_dimension") ? "embedding_dimension" : "word_embedding_dimension";
  if (config.has(width) && config.number(width, 1, 1 << 30) != width_of(b, x))
    config.wrong(std::string(width) + " is " + std::to_string(config.number(width, 1, 1 << 30)) + ", but vectors of tokens have " +
                 std::to_string(width_of(b, x)));
  const std::vector<std::string> kinds = poolings_of(config);
  std::vector<NetworkTensor> parts;
  for (const std::string& kind : kinds) {
    const auto at = std::find_if(poolings().begin(), poolings().end(), [&](const Pooling& one) { return one.name == kind; });
    if (at == poolings().end())
      fail(ErrorKind::unsupported, config.where + ": the pooling '" + kind + "' is not supported; " + known_poolings() + " are");
    parts.push_back(at->make(b, x, skipped));
  }
  return parts.size() == 1 ? parts[0] : b.net.concatenation(parts, 1);
}

// A module may name what it reads and writes; here each goes on from the one before it.
void check_names(const Blocks& b, const Module& module, NetworkTensor x) {
  const Json config = module.json();
  const std::string here = b.net.dims(x).size() == 3 ? "token_embeddings" : "sentence_embedding";
  const std::string reads = config.has("module_input_name") ? config.text("module_input_name") : "sentence_embedding";
  const std::string writes = config.has("module_output_name") ? config.text("module_output_name") : reads;
  if (reads != here || writes != here)
    fail(ErrorKind::unsupported, config.where + ": this " + module.type + " reads " + reads + " and writes " + writes +
                                     ", where " + here + " is what the module before it gives; that alone is supported");
}

NetworkTensor dense(const Blocks& b, const Module& module, NetworkTensor x) {
  const Json config = module.json();
  const std::int64_t in = config.number("in_features", 1, 1 << 30), out = config.number("out_features", 1, 1 << 30);
  if (in != width_of(b, x)) config.wrong("in_features is " + std::to_string(in) + ", but vectors have " + std::to_string(width_of(b, x)));
  const Weights weights = Weights::of_file(module.path + "/model.safetensors");
  std::string function = config.has("activation_function") ? config.text("activation_function") : "Tanh";
  function = function.substr(function.rfind('.') + 1);
  const Blocks own(b.net, weights);
  const NetworkTensor y = own.activation(function, own.linear("linear", x, in, out, config.flag("bias", true)));
  if (!config.flag("use_residual", false)) return y;
  return own.sum(y, in == out ? x : own.linear("residual", x, in, out, false));
}

// x by its length; zeros stay zeros, since the length is at least 1e-12.
NetworkTensor normalized(const Blocks& b, NetworkTensor x) {
  const NetworkTensor length = b.net.reduce(Reduce::l2, x, {static_cast<std::int64_t>(b.net.dims(x).size()) - 1}, true);
  return b.net.elementwise(Elementwise::div, x, b.net.elementwise(Elementwise::max, length, b.scalar(1e-12f)));
}

}  // namespace

NetworkTensor run_modules(const Model& model, const Blocks& b, NetworkTensor x, const OutputRequest& request,
                          const EncoderOptions& options) {
  for (const Module& module : model.folder.modules) {
    if (module.type == "Pooling" && request.output == OutputRequest::tokens) return x;
    if (module.type == "Dense" || module.type == "Normalize") check_names(b, module, x);
    if (module.type == "Pooling")
      x = pooled(b, module.json(), x, model.counts_prompts ? 0 : request.skipped);
    else if (module.type == "Dense")
      x = dense(b, module, x);
    else if (module.type == "Normalize")
      x = normalized(b, x);
  }
  if (request.output == OutputRequest::tokens) return x;
  if (b.net.dims(x).size() != 2)
    fail(ErrorKind::invalid_model,
         "'" + model.folder.path + "': no module makes one vector of a text's tokens; modules.json needs a Pooling");
  const std::int64_t width = width_of(b, x);
  if (options.dimensions > width)
    fail(ErrorKind::invalid_argument, "dimensions is " + std::to_string(options.dimensions) + ", but vectors of '" + model.folder.path +
                                          "' have " + std::to_string(width));
  const std::int64_t kept = options.dimensions == 0 ? model.folder.truncate_dim : options.dimensions;
  if (kept > 0 && kept < width) x = b.net.add_node("Slice", {x, b.integers({0}), b.integers({kept}), b.integers({1})})[0];
  return options.normalize ? normalized(b, x) : x;
}

}  // namespace tenfold::encoders
