// The weights of an encoder's folder, by name.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tenfold/tensor.h"
#include "text/transformers/safetensors.h"

namespace tenfold::transformers {

class Weights {
 public:
  // model.safetensors, or the shards that model.safetensors.index.json names; nothing if the folder has neither.
  static std::optional<Weights> read(const std::string& folder);
  static Weights of_file(const std::string& path);

  bool has(const std::string& name) const { return tensors_.count(name) > 0; }
  std::vector<std::string> names() const;
  const TensorPlace& place(const std::string& name) const { return find(name).tensor; }
  bool has_layer(const std::string& name) const;   // any tensor "name.*"
  // Throws invalid_model: it is missing, or has another shape. An extent of -1 may be any. Throws io if the file has changed.
  Tensor take(const std::string& name, const Shape& shape) const;
  // The same, of which no other tensor's bytes are read or kept.
  Tensor take_alone(const std::string& name, const Shape& shape) const;
  Tensor take_integers(const std::string& name, const Shape& shape, DType type) const;
  Tensor take_any(const std::string& name) const;   // of any type and shape
  Shape integers_shape(const std::string& name, const Shape& shape, DType type) const;
  Shape shape(const std::string& name, const Shape& shape) const;   // the same, without reading the tensor
  const std::vector<std::shared_ptr<const WeightFile>>& files() const { return files_; }
  // The files' bytes are memory of this process, which goes once networks are built: later ones read the files again.
  void forget() const;
  void change(const std::string& name, Tensor value);   // from now on; of the same type and shape

 private:
  struct Place {
    TensorPlace tensor;
    std::size_t file;
  };
  const Place& find(const std::string& name, const Shape& shape, std::optional<DType> type = {}) const;   // no type: floats
  const Place& find(const std::string& name) const;
  Tensor alone(const std::string& name, const Place& place) const;
  void add(const std::string& path);
  std::map<std::string, Place> tensors_;
  std::map<std::string, Tensor> changed_;
  std::vector<std::shared_ptr<const WeightFile>> files_;
};

}  // namespace tenfold::transformers
