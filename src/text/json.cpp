#include "text/json.h"

#include <nlohmann/json.hpp>

#include "text/fail.h"

namespace tenfold::tokenizing {

void Json::wrong(const std::string& what) const { fail(ErrorKind::invalid_model, (where.empty() ? "" : where + ": ") + what); }

void Json::missing_component(const std::string& kinds) const {
  fail(ErrorKind::unsupported, where + ": the type '" + type() + "' is not supported; " + kinds + " are");
}

bool Json::has(const char* key) const {
  if (!value.is_object()) wrong(where.empty() ? "tokenizer.json: an object was expected" : "an object was expected");
  const auto found = value.find(key);
  return found != value.end() && !found->is_null();
}

Json Json::at(const char* key) const {
  if (!has(key)) wrong(std::string("'") + key + "' is missing");
  if (depth == kDeepest) wrong("this is nested more than " + std::to_string(kDeepest) + " deep");
  return {value.at(key), where.empty() ? key : where + "." + key, depth + 1};
}

std::vector<Json> Json::list(const char* key) const {
  const Json array = at(key);
  if (!array.value.is_array()) array.wrong("a list was expected");
  std::vector<Json> items;
  for (std::size_t i = 0; i < array.value.size(); ++i)
    items.push_back({array.value[i], array.where + "[" + std::to_string(i) + "]", array.depth});
  return items;
}

std::string Json::text(const char* key) const {
  const Json one = at(key);
  if (!one.value.is_string()) one.wrong("a string was expected");
  return one.value.get<std::string>();
}

bool Json::flag(const char* key, bool otherwise) const {
  if (!has(key)) return otherwise;
  const Json one = at(key);
  if (!one.value.is_boolean()) one.wrong("true or false was expected");
  return one.value.get<bool>();
}

std::int64_t Json::number(const char* key, std::int64_t min, std::int64_t max) const {
  const Json one = at(key);
  const bool is_right = one.value.is_number_integer() && (!one.value.is_number_unsigned() || one.value.get<std::uint64_t>() <= INT64_MAX);
  const std::int64_t number = is_right ? one.value.get<std::int64_t>() : 0;
  if (!is_right || number < min || number > max)
    one.wrong("a whole number from " + std::to_string(min) + " to " + std::to_string(max) + " was expected");
  return number;
}

std::int64_t Json::number(const char* key, std::int64_t min, std::int64_t max, std::int64_t otherwise) const {
  return has(key) ? number(key, min, max) : otherwise;
}

double Json::real(const char* key, double otherwise) const {
  if (!has(key)) return otherwise;
  const Json one = at(key);
  if (!one.value.is_number()) one.wrong("a number was expected");
  return one.value.get<double>();
}

}  // namespace tenfold::tokenizing
