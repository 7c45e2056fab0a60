#include "text/decoders/onnx/config.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/decoders/end_tokens.h"
#include "text/json.h"
#include "text/transformers/json_file.h"

namespace tenfold::decoders::onnx {
namespace {

using tokenizing::Json;

constexpr std::int64_t kMax = 1 << 30;

// The first of these fields that is there.
std::int64_t number(const Json& from, std::initializer_list<const char*> keys) {
  for (const char* key : keys)
    if (from.has(key)) return from.number(key, 1, kMax);
  return 0;
}

void take(std::int64_t& to, std::int64_t found) {
  if (to == 0) to = found;
}

void read_transformers(const Json& from, Config& to) {
  if (from.has("model_type")) to.type = from.text("model_type");
  take(to.places, number(from, {"max_position_embeddings", "n_positions", "max_seq_len", "seq_length"}));
  if (!from.has("num_kv_shared_layers")) take(to.layers, number(from, {"num_hidden_layers", "n_layer"}));   // there each has its own cache
  take(to.heads, number(from, {"num_key_value_heads"}));
  take(to.size, number(from, {"head_dim"}));
}

void read_genai(const Json& from, Config& to) {
  if (!from.has("model")) return;
  const Json model = from.at("model");
  if (to.type == "onnx" && model.has("type")) to.type = model.text("type");
  take(to.places, number(model, {"context_length"}));
  read_end_tokens(model, to.end_tokens);
  if (!model.has("decoder")) return;
  const Json decoder = model.at("decoder");
  take(to.layers, number(decoder, {"num_hidden_layers"}));
  take(to.heads, number(decoder, {"num_key_value_heads"}));
  take(to.size, number(decoder, {"head_size"}));
}

}  // namespace

Config read_config(const std::string& folder) {
  Config config{.type = "onnx"};
  const nlohmann::json genai = transformers::read_json_if_there(folder + "/genai_config.json"),
                       own = transformers::read_json_if_there(folder + "/config.json"),
                       generation = transformers::read_json_if_there(folder + "/generation_config.json");
  const Json fields{own, "config.json"};
  read_transformers(fields, config);
  read_end_tokens(fields, config.end_tokens);
  read_end_tokens({generation, "generation_config.json"}, config.end_tokens);
  read_genai({genai, "genai_config.json"}, config);
  return config;
}

}  // namespace tenfold::decoders::onnx
