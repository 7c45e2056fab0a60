// A model's configuration as Triton gives it, and as it is completed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "configure_tensors.h"
#include "tenfold/engine.h"

namespace tenfold::triton {

class ModelConfig {
 public:
  explicit ModelConfig(const std::string& json); // throws invalid_argument
  ~ModelConfig();
  ModelConfig(ModelConfig&&) noexcept;

  std::int64_t max_batch_size() const;
  std::string default_file() const;              // default_model_filename; empty: none
  std::vector<ConfiguredTensor> tensors(const char* list) const;   // "input", "output"
  std::map<std::string, std::string> parameters() const;

  // Throws unsupported for a field that asks for what this backend does not do, by its name, with what to do.
  void refuse_unsupported() const;
  // Fields that change nothing here, a line each that says why.
  std::vector<std::string> without_effect() const;

  // Adds what is missing by the rules of Triton's ONNX backend: inputs, outputs, max_batch_size, dynamic_batching.
  // `lines` receives what was added, and why a model cannot be batched. Returns whether anything changed. Throws
  // invalid_argument.
  bool complete(std::span<const BindingInfo> bindings, std::int64_t default_max_batch, std::vector<std::string>& lines);
  std::string json() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The setting of the server's --backend-config for this backend; empty: not given.
std::string backend_setting(const std::string& json, const std::string& name);
// The only key of an object, such as the name of a host policy.
std::string first_key(const std::string& json);

}  // namespace tenfold::triton
