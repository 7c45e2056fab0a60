#include "text/encoders/folder.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "text/transformers/json_file.h"
#include "text/fail.h"

namespace tenfold::encoders {

using tokenizing::fail;
using transformers::read_json;
using transformers::read_json_if_there;
using tokenizing::Json;
namespace fs = std::filesystem;

namespace {

bool exists(const std::string& path) {
  std::error_code none;
  return fs::exists(path, none);
}

// "sentence_transformers.models.Pooling": the last word says what it is, wherever a version keeps it.
std::string last_word(const std::string& type) { return type.substr(type.rfind('.') + 1); }

// Before anything is looked for in the module's own folder.
void check_type(const Folder& folder, const std::string& type) {
  for (const char* known : {"Pooling", "Dense", "Normalize", "Dropout"})
    if (type == known) return;
  fail(ErrorKind::unsupported, "'" + folder.path + "/modules.json': the module " + type +
                                   " is not supported; Transformer, Pooling, Dense, Normalize and Dropout are");
}

void read_modules(Folder& folder) {
  const std::string file = folder.path + "/modules.json";
  if (!exists(file)) {
    const nlohmann::json mean{{"pooling_mode_mean_tokens", true}};
    if (!folder.is_classifier()) folder.modules.push_back({"Pooling", "", mean});
    return;
  }
  folder.files.push_back(file);
  const nlohmann::json list = read_json(file);
  if (!list.is_array() || list.empty()) fail(ErrorKind::invalid_model, "'" + file + "' is no list of modules");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Json entry{list[i], "'" + file + "': module " + std::to_string(i)};
    const std::string type = last_word(entry.type()), inside = entry.text("path");
    if (inside.find("..") != std::string::npos || inside.starts_with('/')) entry.wrong("its path '" + inside + "' leads out of the folder");
    const std::string path = inside.empty() ? folder.path : folder.path + "/" + inside;
    if ((i == 0) != (type == "Transformer"))
      fail(ErrorKind::unsupported, entry.where + " is a " + type + "; folders that begin with one Transformer are supported");
    if (i == 0) {
      folder.transformer = path;
      continue;
    }
    check_type(folder, type);
    const std::string config = path + "/config.json";
    const bool there = exists(config);
    if (!there && type != "Normalize") entry.wrong("'" + config + "' is missing");
    folder.modules.push_back({type, path, there ? read_json(config) : nlohmann::json::object()});
    if (there) folder.files.push_back(config);
  }
}

// The longest text: of sentence-transformers' file, else of the model and its tokenizer.
void read_lengths(Folder& folder) {
  for (const char* name : {"sentence_bert_config.json", "sentence_roberta_config.json", "sentence_distilbert_config.json",
                           "sentence_xlm-roberta_config.json", "sentence_mpnet_config.json"}) {
    const std::string file = folder.transformer + "/" + name;
    if (!exists(file)) continue;
    const nlohmann::json json = read_json(file);
    const Json settings{json, "'" + file + "'"};
    folder.max_tokens = static_cast<int>(settings.number("max_seq_length", 1, 1 << 24, 0));
    folder.lower_case = settings.flag("do_lower_case", false);
    folder.files.push_back(file);
    break;
  }
  const nlohmann::json tokenizer = read_json_if_there(folder.transformer + "/tokenizer_config.json");
  folder.keeps_end = tokenizer.is_object() && tokenizer.value("truncation_side", nlohmann::json()) == "left";
  if (folder.max_tokens > 0) return;
  const auto max = tokenizer.find("model_max_length");  // 1e30 where nobody set it
  if (max != tokenizer.end() && max->is_number() && *max >= 1 && *max < 1 << 24) folder.max_tokens = max->get<int>();
}

void read_prompts(Folder& folder) {
  const std::string file = folder.path + "/config_sentence_transformers.json";
  if (!exists(file)) return;
  folder.files.push_back(file);
  const nlohmann::json json = read_json(file);
  const Json settings{json, "'" + file + "'"};
  if (settings.has("prompts"))
    for (const auto& [name, prompt] : settings.at("prompts").value.items())
      folder.prompts[name] = settings.at("prompts").text(name.c_str());
  if (settings.has("default_prompt_name")) folder.default_prompt = settings.text("default_prompt_name");
  if (!folder.default_prompt.empty() && !folder.prompts.count(folder.default_prompt))
    settings.wrong("default_prompt_name is '" + folder.default_prompt + "', which is none of its prompts");
  if (settings.has("activation_fn")) folder.activation = settings.text("activation_fn");
  folder.truncate_dim = static_cast<int>(settings.number("truncate_dim", 1, 1 << 24, 0));
  if (settings.has("similarity_fn_name")) folder.similarity = settings.text("similarity_fn_name");
}

}  // namespace

bool Folder::is_classifier() const {
  if (std::any_of(modules.begin(), modules.end(), [](const Module& one) { return one.type == "Pooling"; })) return false;
  const auto names = config.find("architectures");
  return names != config.end() && names->is_array() && !names->empty() && names->front().is_string() &&
         names->front().get<std::string>().ends_with("ForSequenceClassification");
}

Folder read_folder(const std::string& path) {
  Folder folder;
  folder.path = folder.transformer = path;
  std::error_code none;
  if (!fs::is_directory(path, none))
    fail(ErrorKind::io, "'" + path + "' is no folder; an encoder is a folder with config.json, a tokenizer and weights");
  if (exists(path + "/config.json")) folder.config = read_json(path + "/config.json");
  read_modules(folder);
  const std::string config = folder.transformer + "/config.json";
  folder.config = read_json(config);
  folder.files.push_back(config);
  read_lengths(folder);
  read_prompts(folder);
  for (const char* name : {"/model.onnx", "/onnx/model.onnx"})
    if (folder.onnx.empty() && exists(folder.transformer + name)) folder.onnx = folder.transformer + name;
  return folder;
}

}  // namespace tenfold::encoders
