// What a folder of sentence-transformers or transformers says about its encoder, without the weights.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "text/json.h"

namespace tenfold::encoders {

// A module of modules.json behind the transformer: Pooling, Dense, Normalize.
struct Module {
  std::string type, path;  // `path` of its own folder
  nlohmann::json config;
  // A field of its config.json; throws invalid_model.
  tokenizing::Json json() const { return {config, "'" + path + "/config.json'"}; }
};

struct Folder {
  std::string path, transformer;  // the folder, and that of the transformer inside it
  nlohmann::json config;          // config.json
  std::vector<Module> modules;    // what follows the transformer; one of mean pooling where there is no modules.json
  int max_tokens = 0;             // 0: nothing says it
  int truncate_dim = 0;           // dimensions of a vector; 0: nothing says it
  bool lower_case = false;
  bool keeps_end = false;         // of a text that is too long
  std::map<std::string, std::string> prompts;
  std::string default_prompt, similarity = "cosine";
  std::string activation;          // torch's name of the function of scores; empty: nothing says it
  std::string onnx;                // an ONNX file beside the weights, or empty
  std::vector<std::string> files;  // what was read

  tokenizing::Json json() const { return {config, "config.json"}; }
  bool is_classifier() const;  // its head gives scores, and nothing is pooled
};

Folder read_folder(const std::string& path);  // throws io, invalid_model, unsupported

}  // namespace tenfold::encoders
