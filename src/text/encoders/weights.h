// The weights of an encoder's folder, by name.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tenfold/tensor.h"

namespace tenfold::encoders {

class Weights {
 public:
  // model.safetensors, or the shards that model.safetensors.index.json names; nothing if the folder has neither.
  static std::optional<Weights> read(const std::string& folder);
  static Weights of_file(const std::string& path);

  bool has(const std::string& name) const { return tensors_.count(name) > 0; }
  // Throws invalid_model: it is missing, or has another shape. An extent of -1 may be any.
  const Tensor& take(const std::string& name, const Shape& shape) const;
  const std::vector<std::string>& files() const { return files_; }

 private:
  std::map<std::string, Tensor> tensors_;
  std::vector<std::string> files_;
};

}  // namespace tenfold::encoders
