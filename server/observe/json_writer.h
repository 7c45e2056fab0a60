// JSON written member by member: names, commas and escapes stand here alone.
//
//   JsonObject().add("name", model.name()).add("count", 3).raw("shape", json_shape(shape)).text()
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "observe/json_string.h"

namespace tenfold::server {

class JsonObject {
 public:
  JsonObject& add(std::string_view name, std::string_view value) {
    append_string(begin(name), value);
    return *this;
  }
  template <std::integral Number>
  JsonObject& add(std::string_view name, Number value) {
    if constexpr (std::same_as<Number, bool>) begin(name) += value ? "true" : "false";
    else begin(name) += std::to_string(value);
    return *this;
  }
  JsonObject& raw(std::string_view name, std::string_view json) {   // a value that is JSON
    begin(name) += json;
    return *this;
  }
  std::string text() const { return out_ + "}"; }

 private:
  std::string& begin(std::string_view name) {
    if (out_.size() > 1) out_ += ',';
    append_string(out_, name);
    return out_ += ':';
  }
  std::string out_ = "{";
};

class JsonList {
 public:
  JsonList& raw(std::string_view json) {
    if (out_.size() > 1) out_ += ',';
    out_ += json;
    return *this;
  }
  JsonList& add(const JsonObject& object) { return raw(object.text()); }
  JsonList& add(std::string_view value) { return raw(json_string(value)); }
  std::string text() const { return out_ + "]"; }

 private:
  std::string out_ = "[";
};

}  // namespace tenfold::server
