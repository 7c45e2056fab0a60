#include "text/encoders/weights.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "text/encoders/json_file.h"
#include "text/encoders/safetensors.h"
#include "text/fail.h"

namespace tenfold::encoders {

using tokenizing::fail;
namespace fs = std::filesystem;

Weights Weights::of_file(const std::string& path) {
  Weights weights;
  weights.tensors_ = read_safetensors(path);
  weights.files_ = {path};
  return weights;
}

namespace {

// The shards' names, each once.
std::set<std::string> shards_of(const std::string& index) {
  const nlohmann::json json = read_json(index);
  const auto map = json.find("weight_map");
  if (map == json.end() || !map->is_object()) fail(ErrorKind::invalid_model, "'" + index + "' has no weight_map");
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : map->items()) {
    if (!shard.is_string() || fs::path(shard.get<std::string>()).filename() != shard.get<std::string>())
      fail(ErrorKind::invalid_model, "'" + index + "': the shard of '" + tensor + "' is no file of this folder");
    shards.insert(shard.get<std::string>());
  }
  return shards;
}

}  // namespace

std::optional<Weights> Weights::read(const std::string& folder) {
  const std::string one = folder + "/model.safetensors", index = folder + "/model.safetensors.index.json";
  std::error_code none;
  if (fs::exists(one, none)) return of_file(one);
  if (!fs::exists(index, none)) return std::nullopt;
  Weights weights;
  for (const std::string& shard : shards_of(index)) {
    for (auto& [name, tensor] : read_safetensors(folder + "/" + shard))
      if (!weights.tensors_.emplace(name, std::move(tensor)).second)
        fail(ErrorKind::invalid_model, "'" + index + "': more than one shard has the tensor '" + name + "'");
    weights.files_.push_back(folder + "/" + shard);
  }
  weights.files_.push_back(index);
  return weights;
}

const Tensor& Weights::take(const std::string& name, const Shape& shape) const {
  const auto at = tensors_.find(name);
  const std::string& file = files_.front();
  if (at == tensors_.end())
    fail(ErrorKind::invalid_model, "the weights '" + file + "' have no tensor '" + name + "', which config.json asks for");
  const Tensor& found = at->second;
  bool fits = found.shape().size() == shape.size() && is_float(found.dtype());
  for (std::size_t i = 0; fits && i < shape.size(); ++i) fits = shape[i] < 0 || found.shape()[i] == shape[i];
  if (!fits)
    fail(ErrorKind::invalid_model, "the tensor '" + name + "' of '" + file + "' is " + std::string(tenfold::name(found.dtype())) + "[" +
                                       tenfold::text(found.shape()) + "], but by config.json its shape is " + tenfold::text(shape) +
                                       "; config.json and the weights are of different models");
  return found;
}

}  // namespace tenfold::encoders
