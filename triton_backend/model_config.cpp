// Reading configurations. Numbers of 64 bits may be texts in this JSON, as protocol buffers write them.
#include "model_config.h"

#include <nlohmann/json.hpp>

#include "model_config_impl.h"
#include "tenfold/error.h"

namespace tenfold::triton {

using Json = nlohmann::ordered_json;

namespace {

Json parse(const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) throw Error(ErrorKind::invalid_argument, "the model's configuration is not a JSON object");
  return json;
}

std::int64_t number(const Json& value) {
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_string()) return std::strtoll(value.get_ref<const std::string&>().c_str(), nullptr, 10);
  return 0;
}

std::string text_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

Shape shape_of(const Json& list) {
  Shape shape;
  for (const Json& extent : list) shape.push_back(number(extent));
  return shape;
}

}  // namespace

ModelConfig::ModelConfig(const std::string& json) : impl_(std::make_unique<Impl>(Impl{parse(json)})) {}
ModelConfig::~ModelConfig() = default;
ModelConfig::ModelConfig(ModelConfig&&) noexcept = default;

std::int64_t ModelConfig::max_batch_size() const {
  const auto found = impl_->json.find("max_batch_size");
  return found == impl_->json.end() ? 0 : number(*found);
}

std::string ModelConfig::default_file() const { return text_of(impl_->json, "default_model_filename"); }
std::string ModelConfig::json() const { return impl_->json.dump(); }

std::vector<ConfiguredTensor> ModelConfig::tensors(const char* list) const {
  std::vector<ConfiguredTensor> tensors;
  for (const Json& entry : impl_->list(list)) {
    ConfiguredTensor tensor{text_of(entry, "name"), text_of(entry, "data_type"), {}, entry.value("optional", false)};
    const auto reshape = entry.find("reshape");
    const bool reshaped = reshape != entry.end() && reshape->is_object();
    const Json& owner = reshaped ? *reshape : entry;
    const char* field = reshaped ? "shape" : "dims";
    if (owner.contains(field)) tensor.shape = shape_of(owner[field]);
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

std::map<std::string, std::string> ModelConfig::parameters() const {
  std::map<std::string, std::string> all;
  const auto found = impl_->json.find("parameters");
  if (found != impl_->json.end() && found->is_object())
    for (const auto& [name, value] : found->items()) all[name] = text_of(value, "string_value");
  return all;
}

std::string backend_setting(const std::string& json, const std::string& name) {
  const Json all = Json::parse(json, nullptr, false);
  const auto line = all.is_object() ? all.find("cmdline") : all.end();
  return line != all.end() && line->is_object() ? text_of(*line, name.c_str()) : "";
}

std::string first_key(const std::string& json) {
  const Json all = Json::parse(json, nullptr, false);
  return all.is_object() && !all.empty() ? all.begin().key() : "";
}

}  // namespace tenfold::triton
