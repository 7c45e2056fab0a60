// A random BERT in a folder of its own, as sentence-transformers saves it.
#pragma once

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "tenfold/encoder.h"

namespace tenfold::encoders {

// The bytes of a safetensors file of f32, all tensors behind each other.
inline std::string safetensors(const std::map<std::string, std::pair<Shape, std::vector<float>>>& tensors) {
  nlohmann::json table;
  std::string body;
  for (const auto& [name, tensor] : tensors) {
    const std::size_t begin = body.size();
    body.append(reinterpret_cast<const char*>(tensor.second.data()), tensor.second.size() * sizeof(float));
    table[name] = {{"dtype", "F32"}, {"shape", tensor.first}, {"data_offsets", {begin, body.size()}}};
  }
  const std::string text = table.dump();
  const std::uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + text + body;
}

class TinyBert {
 public:
  static constexpr int kWidth = 8, kTokens = 12, kPlaces = 16;
  const std::string path;
  std::map<std::string, std::pair<Shape, std::vector<float>>> weights;

  explicit TinyBert(const std::string& name)
      : path((std::filesystem::temp_directory_path() / ("tenfold-" + name + "-" + std::to_string(::getpid()))).string()) {
    std::filesystem::create_directories(path + "/1_Pooling");
    fill();
    write_json("config.json", config());
    write_json("modules.json", R"([{"idx":0,"path":"","type":"sentence_transformers.models.Transformer"},
      {"idx":1,"path":"1_Pooling","type":"sentence_transformers.models.Pooling"}])");
    pool(R"({"word_embedding_dimension": 8, "pooling_mode_mean_tokens": true})");
    write("tokenizer.json", R"({"model": {"type": "WordPiece", "unk_token": "?", "vocab": {"?": 0, "[C]": 1, "[S]": 2, "a": 3, "b": 4,
      "c": 5, "d": 6, "##a": 7, "##b": 8, ".": 9}}, "normalizer": {"type": "BertNormalizer"}, "pre_tokenizer": {"type": "BertPreTokenizer"},
      "post_processor": {"type": "BertProcessing", "cls": ["[C]", 1], "sep": ["[S]", 2]}})");
    save();
  }
  ~TinyBert() { std::filesystem::remove_all(path); }

  static nlohmann::json config() {
    return {{"model_type", "bert"},    {"hidden_size", kWidth},  {"num_attention_heads", 2}, {"num_hidden_layers", 2},
            {"intermediate_size", 16}, {"vocab_size", kTokens},  {"type_vocab_size", 2},     {"max_position_embeddings", kPlaces},
            {"hidden_act", "gelu"},    {"layer_norm_eps", 1e-12}};
  }
  void write(const std::string& file, const std::string& text) const { std::ofstream(path + "/" + file, std::ios::binary) << text; }
  void write_json(const std::string& file, const nlohmann::json& json) const {
    write(file, json.is_string() ? json.get<std::string>() : json.dump());
  }
  void pool(const std::string& json) const { write("1_Pooling/config.json", json); }
  void save() const { write("model.safetensors", safetensors(weights)); }
  void add(const std::string& name, const Shape& shape) {
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    for (float& v : values) v = std::normal_distribution<float>(0, 0.5)(random_);
    weights[name] = {shape, std::move(values)};
  }
  // Engines are built at level 0, and kept nowhere.
  Encoder load(EncoderOptions options = {}) const {
    options.build.optimization_level = 0, options.build.threads = 1;
    options.cache.reset();
    return Encoder::load(path, std::move(options));
  }

 private:
  std::mt19937 random_{7};

  void linear(const std::string& name, int out, int in) { add(name + ".weight", {out, in}), add(name + ".bias", {out}); }
  void norm(const std::string& name) { add(name + ".weight", {kWidth}), add(name + ".bias", {kWidth}); }
  void fill() {
    add("embeddings.word_embeddings.weight", {kTokens, kWidth});
    add("embeddings.position_embeddings.weight", {kPlaces, kWidth});
    add("embeddings.token_type_embeddings.weight", {2, kWidth});
    norm("embeddings.LayerNorm");
    for (const char* layer : {"encoder.layer.0.", "encoder.layer.1."}) {
      for (const char* part : {"query", "key", "value"}) linear(std::string(layer) + "attention.self." + part, kWidth, kWidth);
      linear(std::string(layer) + "attention.output.dense", kWidth, kWidth), norm(std::string(layer) + "attention.output.LayerNorm");
      linear(std::string(layer) + "intermediate.dense", 16, kWidth), linear(std::string(layer) + "output.dense", kWidth, 16);
      norm(std::string(layer) + "output.LayerNorm");
    }
  }
};

}  // namespace tenfold::encoders
