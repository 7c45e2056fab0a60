#include "text/transformers/weights.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "text/transformers/json_file.h"
#include "text/fail.h"

namespace tenfold::transformers {

using tokenizing::fail;
namespace fs = std::filesystem;

Weights Weights::of_file(const std::string& path) {
  Weights weights;
  weights.add(path);
  return weights;
}

void Weights::add(const std::string& path) {
  files_.push_back(WeightFile::open(path));
  for (auto& [name, place] : read_table(*files_.back()))
    if (!tensors_.emplace(name, Place{std::move(place), files_.size() - 1}).second)
      fail(ErrorKind::invalid_model, "more than one shard has the tensor '" + name + "'");
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
    try {
      weights.add(folder + "/" + shard);
    } catch (Error& error) {
      throw error.within("'" + index + "'");
    }
  }
  weights.files_.push_back(WeightFile::open(index));
  return weights;
}

const Weights::Place& Weights::find(const std::string& name) const {
  const auto at = tensors_.find(name);
  if (at == tensors_.end())
    fail(ErrorKind::invalid_model,
         "the weights '" + files_.front()->path() + "' have no tensor '" + name + "', which config.json asks for");
  return at->second;
}

const Weights::Place& Weights::find(const std::string& name, const Shape& shape, std::optional<DType> type) const {
  const Place& place = find(name);
  const TensorPlace& found = place.tensor;
  if (!type && bits(found.type) == 8 && is_float(found.type))
    fail(ErrorKind::unsupported, "the tensor '" + name + "' of '" + files_.front()->path() + "' is " +
                                     std::string(tenfold::name(found.type)) +
                                     ", which is read as the scales of nvfp4 and mxfp4 alone; F32, F16 and BF16 are read as weights");
  bool fits = found.shape.size() == shape.size() && (type ? found.type == *type : is_float(found.type));
  for (std::size_t i = 0; fits && i < shape.size(); ++i) fits = shape[i] < 0 || found.shape[i] == shape[i];
  if (!fits)
    fail(ErrorKind::invalid_model, "the tensor '" + name + "' of '" + files_.front()->path() + "' is " +
                                       std::string(tenfold::name(found.type)) + "[" + tenfold::text(found.shape) +
                                       "], but by config.json its shape is " + (type ? std::string(tenfold::name(*type)) + " " : "") +
                                       tenfold::text(shape) + "; config.json and the weights are of different models");
  return place;
}

std::vector<std::string> Weights::names() const {
  std::vector<std::string> all;
  for (const auto& [name, place] : tensors_) all.push_back(name);
  return all;
}

bool Weights::has_layer(const std::string& name) const {
  const auto at = tensors_.lower_bound(name + ".");
  return at != tensors_.end() && at->first.starts_with(name + ".");
}

Tensor Weights::take(const std::string& name, const Shape& shape) const {
  const Place& place = find(name, shape);
  if (const auto at = changed_.find(name); at != changed_.end()) return at->second;
  const std::shared_ptr<const std::byte[]> file = files_[place.file]->bytes();
  const std::byte* data = file.get() + place.tensor.offset;
  const auto width = static_cast<std::uintptr_t>(std::max(1, bits(place.tensor.type) / 8));
  if (reinterpret_cast<std::uintptr_t>(data) % width == 0) return Tensor(place.tensor.type, place.tensor.shape, file, data);
  Tensor copy(place.tensor.type, place.tensor.shape);
  if (place.tensor.bytes > 0) std::memcpy(copy.mutable_raw(), data, place.tensor.bytes);
  return copy;
}

Tensor Weights::alone(const std::string& name, const Place& place) const {
  if (const auto at = changed_.find(name); at != changed_.end()) return at->second.clone();
  Tensor copy(place.tensor.type, place.tensor.shape);
  const TensorPlace& at = place.tensor;
  if (at.bytes > 0) files_[place.file]->read(at.offset, static_cast<std::byte*>(copy.mutable_raw()), at.bytes);
  return copy;
}

Tensor Weights::take_alone(const std::string& name, const Shape& shape) const { return alone(name, find(name, shape)); }
Tensor Weights::take_integers(const std::string& name, const Shape& shape, DType type) const {
  return alone(name, find(name, shape, type));
}
Tensor Weights::take_any(const std::string& name) const { return alone(name, find(name)); }
Shape Weights::integers_shape(const std::string& name, const Shape& shape, DType type) const {
  return find(name, shape, type).tensor.shape;
}

Shape Weights::shape(const std::string& name, const Shape& shape) const { return find(name, shape).tensor.shape; }

void Weights::change(const std::string& name, Tensor value) {
  const TensorPlace& place = find(name).tensor;
  if (value.dtype() != place.type || value.shape() != place.shape) fail(ErrorKind::internal, "'" + name + "' would change its type");
  changed_[name] = std::move(value);
}

void Weights::forget() const {
  for (const auto& file : files_) file->forget();
}

}  // namespace tenfold::transformers
