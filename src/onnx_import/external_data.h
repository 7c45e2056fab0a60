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
  // `base`: the model's folder; empty if the model came as bytes, then only `allowed` folders are searched.
  ExternalData(std::filesystem::path base, std::vector<std::filesystem::path> allowed)
      : base_(std::move(base)), allowed_(std::move(allowed)) {}

  // The file at `location` as the model names it; mapped once, however many tensors live in it.
  std::shared_ptr<const MappedFile> file(const std::string& location);

 private:
  std::shared_ptr<const MappedFile> find(const std::string& location) const;
  std::filesystem::path base_;
  std::vector<std::filesystem::path> allowed_;
  std::map<std::string, std::shared_ptr<const MappedFile>> open_;
};

}  // namespace tenfold::onnx_import
