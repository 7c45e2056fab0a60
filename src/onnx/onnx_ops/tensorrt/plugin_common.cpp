// Fields of plug-ins, by name.
#include "onnx_ops/tensorrt/plugin_common.h"

#include <algorithm>

namespace tenfold::onnx_ops {
namespace {

const Attribute* field(const OnnxImport& call, std::string_view name) {
  for (const auto& [key, value] : call.attributes)
    if (key == name) return &value;
  return nullptr;
}

Floats numbers(const Attribute& value, std::string_view name) {
  if (const auto* f = std::get_if<float>(&value)) return {*f};
  if (const auto* i = std::get_if<std::int64_t>(&value)) return {static_cast<float>(*i)};
  if (const auto* list = std::get_if<Floats>(&value)) return *list;
  if (const auto* list = std::get_if<Ints>(&value)) return {list->begin(), list->end()};
  validate(false, "attribute '", name, "' is ", text(value), ", numbers were expected");
  return {};
}

Ints integers(const Attribute& value, std::string_view name) {
  if (const auto* i = std::get_if<std::int64_t>(&value)) return {*i};
  if (const auto* list = std::get_if<Ints>(&value)) return *list;
  validate(false, "attribute '", name, "' is ", text(value), ", integers were expected");
  return {};
}

}  // namespace

void expect_fields(const OnnxImport& call, std::initializer_list<std::string_view> fields) {
  for (const auto& [key, value] : call.attributes)
    validate(key == "plugin_version" || key == "plugin_namespace" || std::find(fields.begin(), fields.end(), key) != fields.end(),
             "the plug-in has no attribute '", key, "'");
}

std::int64_t integer_field(const OnnxImport& call, std::string_view name, std::int64_t otherwise) {
  const Attribute* value = field(call, name);
  if (!value) return otherwise;
  const Ints list = integers(*value, name);
  validate(list.size() == 1, "attribute '", name, "' has ", list.size(), " values, one expected");
  return list.front();
}

float number_field(const OnnxImport& call, std::string_view name, float otherwise) {
  const Attribute* value = field(call, name);
  if (!value) return otherwise;
  const Floats list = numbers(*value, name);
  validate(list.size() == 1, "attribute '", name, "' has ", list.size(), " values, one expected");
  return list.front();
}

Floats numbers_field(const OnnxImport& call, std::string_view name) {
  const Attribute* value = field(call, name);
  validate(value != nullptr, "attribute '", name, "' is missing");
  return numbers(*value, name);
}

Ints integers_field(const OnnxImport& call, std::string_view name) {
  const Attribute* value = field(call, name);
  validate(value != nullptr, "attribute '", name, "' is missing");
  return integers(*value, name);
}

}  // namespace tenfold::onnx_ops
