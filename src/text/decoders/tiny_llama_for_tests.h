// A random Llama as a folder: 12 words, w0 to w11, and places for 24 tokens.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "tenfold/decoder.h"
#include "text/encoders/tiny_bert_for_tests.h"

namespace tenfold::decoders {

class TinyLlama {
 public:
  static constexpr int kWidth = 8, kWords = 12, kPlaces = 24;
  const std::string path;
  nlohmann::json config{{"model_type", "llama"}, {"hidden_size", kWidth}, {"intermediate_size", 12}, {"num_hidden_layers", 2},
                        {"num_attention_heads", 2}, {"num_key_value_heads", 1}, {"max_position_embeddings", kPlaces},
                        {"vocab_size", kWords}, {"eos_token_id", 11}};

  explicit TinyLlama(const std::string& name)
      : path((std::filesystem::temp_directory_path() / ("tenfold-" + name + "-" + std::to_string(::getpid()))).string()) {
    std::filesystem::create_directories(path);
    add("model.embed_tokens.weight", {kWords, kWidth}), add("model.norm.weight", {kWidth});
    for (const char* layer : {"model.layers.0.", "model.layers.1."}) {
      for (const char* norm : {"input_layernorm.weight", "post_attention_layernorm.weight"}) add(std::string(layer) + norm, {kWidth});
      for (const char* square : {"self_attn.q_proj.weight", "self_attn.o_proj.weight"}) add(std::string(layer) + square, {kWidth, kWidth});
      for (const char* shared : {"self_attn.k_proj.weight", "self_attn.v_proj.weight"}) add(std::string(layer) + shared, {4, kWidth});
      for (const char* wide : {"mlp.gate_proj.weight", "mlp.up_proj.weight"}) add(std::string(layer) + wide, {12, kWidth});
      add(std::string(layer) + "mlp.down_proj.weight", {kWidth, 12});
    }
    nlohmann::json words;
    for (int i = 0; i < kWords; ++i) words["w" + std::to_string(i)] = i;
    write("model.safetensors", encoders::safetensors(weights_));
    write("config.json", config.dump());
    write("tokenizer.json", nlohmann::json{{"version", "1.0"},
                                           {"added_tokens", nlohmann::json::array()},
                                           {"pre_tokenizer", {{"type", "Whitespace"}}},
                                           {"model", {{"type", "WordLevel"}, {"vocab", words}, {"unk_token", "w0"}}}}
                                .dump());
  }
  ~TinyLlama() {
    std::error_code none;
    std::filesystem::remove_all(path, none);
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path + "/" + name, std::ios::binary) << text; }
  Decoder load(int max_batch = 1, int prompt_chunk = 512, const std::string& kv_cache_dtype = "") const {
    DecoderOptions options;
    options.cache.reset();
    options.build.optimization_level = 0, options.build.threads = 1, options.build.tf32 = false;
    options.max_batch = max_batch, options.prompt_chunk = prompt_chunk;
    options.kv_cache_dtype = kv_cache_dtype;
    return Decoder::load(path, options);
  }

 private:
  void add(const std::string& name, const Shape& shape) {
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    std::normal_distribution<float> normal(shape.size() == 1 ? 1.0f : 0.0f, 0.8f);
    for (float& value : values) value = normal(random_);
    weights_[name] = {shape, std::move(values)};
  }
  std::mt19937 random_{7};
  std::map<std::string, std::pair<Shape, std::vector<float>>> weights_;
};

}  // namespace tenfold::decoders
