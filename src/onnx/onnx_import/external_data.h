// Weights kept in files beside the model: found, opened and mapped without ever leaving the folders that are allowed.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/files/file.h"

namespace tenfold::onnx_import {

class ExternalData {
 public:
  // `model`: the model's file, which need not exist: data lie in its folder, and links there may lead to where the file itself lies, once
  // links to it are followed. Empty if the model came as bytes; then only `allowed` folders are searched.
  ExternalData(const std::filesystem::path& model, std::vector<std::filesystem::path> allowed);

  // The file at `location` as the model names it; read once, however many tensors live in it. Throws invalid_model; io: there is none.
  std::shared_ptr<const MappedFile> file(const std::string& location);

 private:
  std::shared_ptr<const MappedFile> find(const std::string& location) const;
  std::shared_ptr<const MappedFile> in_models_folder(const std::filesystem::path& relative, std::string& problem) const;
  std::shared_ptr<const MappedFile> in_allowed_folder(const std::filesystem::path& relative) const;
  std::filesystem::path folder_;                // of the model, as the caller names it
  std::vector<std::filesystem::path> real_;     // the same without links, and that of the model's own file
  std::vector<std::filesystem::path> allowed_;
  std::map<std::string, std::shared_ptr<const MappedFile>> open_;
};

}  // namespace tenfold::onnx_import
