#include "text/decoders/onnx/find_model.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

#include "text/fail.h"
#include "text/json.h"
#include "text/transformers/json_file.h"

namespace tenfold::decoders::onnx {
namespace {

namespace fs = std::filesystem;
using tokenizing::fail;

bool there(const fs::path& path) {
  std::error_code none;
  return fs::exists(path, none);
}

bool has_tokenizer(const fs::path& folder) {
  constexpr std::array kNames{"tokenizer.json", "vocab.json", "vocab.txt", "tokenizer.model", "spiece.model", "sentencepiece.bpe.model"};
  return std::any_of(kNames.begin(), kNames.end(), [&](const char* name) { return there(folder / name); });
}

// The name that genai_config.json has for the file, or nothing.
std::string named_by_genai(const fs::path& folder) {
  const nlohmann::json config = transformers::read_json_if_there((folder / "genai_config.json").string());
  const tokenizing::Json fields{config, "genai_config.json"};
  if (!fields.has("model") || !fields.at("model").has("decoder") || !fields.at("model").at("decoder").has("filename")) return "";
  const std::string name = fields.at("model").at("decoder").text("filename");
  if (fs::path(name).filename() != name) fields.wrong("the filename '" + name + "' of model.decoder is no name of a file in the folder");
  return name;
}

fs::path file_in(const fs::path& folder) {
  const std::string named = named_by_genai(folder);
  if (!named.empty()) return folder / named;
  for (const char* usual : {"model.onnx", "onnx/model.onnx"})
    if (there(folder / usual)) return folder / usual;
  std::vector<fs::path> files;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none))
    if (entry.path().extension() == ".onnx") files.push_back(entry.path());
  if (files.size() > 1) {
    std::sort(files.begin(), files.end());
    fail(ErrorKind::invalid_argument, "'" + folder.string() + "' has several ONNX files and none is called model.onnx; name one of them, " +
                                          "as '" + files.front().string() + "'");
  }
  return files.empty() ? fs::path() : files.front();
}

}  // namespace

std::optional<Place> find_model(const std::string& path) {
  std::error_code none;
  const bool is_folder = fs::is_directory(path, none);
  if (!is_folder && fs::path(path).extension() != ".onnx") return std::nullopt;
  for (const char* weights : {"model.safetensors", "model.safetensors.index.json"})
    if (is_folder && there(fs::path(path) / weights)) return std::nullopt;
  const fs::path file = is_folder ? file_in(path) : fs::path(path);
  if (file.empty()) return std::nullopt;
  if (!fs::is_regular_file(file, none)) fail(ErrorKind::io, "'" + file.string() + "' is missing, or no file");
  const fs::path own = file.has_parent_path() ? file.parent_path() : fs::path(".");
  for (const fs::path& folder : {is_folder ? fs::path(path) : own, own, own / ".."})
    if (has_tokenizer(folder)) return Place{file.string(), folder.lexically_normal().string()};
  fail(ErrorKind::io, "'" + own.string() + "' has no tokenizer (tokenizer.json) beside '" + file.filename().string() +
                          "'; put the one there that the model was exported with");
}

}  // namespace tenfold::decoders::onnx
