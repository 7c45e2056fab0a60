#include "text/encoders/identity.h"

#include <filesystem>

#include "tenfold/plan_cache.h"
#include "text/transformers/json_file.h"
#include "text/transformers/safetensors.h"
#include "text/tokenizers/files/folder.h"

namespace tenfold::encoders {

using transformers::WeightFile;

namespace {

// Files that tokenizers are made of (text/files).
constexpr const char* kTokenizerFiles[] = {
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.txt", "vocab.json",
    "merges.txt",     "tokenizer.model",       "sentencepiece.bpe.model", "spiece.model"};

// Of the very bytes that networks are made of.
std::string hash_of(const WeightFile& file) { return plan_key(std::span(file.bytes().get(), file.size()), {}) + "\n"; }

}  // namespace

std::string identity_of(const Model& model) {
  std::string text;
  if (model.weights)
    for (const auto& file : model.weights->files()) text += hash_of(*file);
  else
    text += plan_key(model.folder.onnx, {}) + "\n";  // with the weights that lie in files of their own
  for (const Module& module : model.folder.modules)
    if (module.type == "Dense") text += hash_of(*WeightFile::open(module.path + "/model.safetensors"));
  for (const std::string& file : model.folder.files) text += tokenizing::read_file(file) + "\n";
  for (const char* name : kTokenizerFiles) {
    const std::string file = model.folder.transformer + "/" + name;
    if (std::error_code none; !std::filesystem::exists(file, none)) continue;
    const std::string content = tokenizing::read_file(file);
    text += name + plan_key(std::as_bytes(std::span(content)), {}) + "\n";
  }
  return text;
}

}  // namespace tenfold::encoders
