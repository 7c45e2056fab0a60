// Fields of tokenizer.json, with messages that name the place.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace tenfold::tokenizing {

// An object of the file and where it stands, such as "normalizer.normalizers[1]".
struct Json {
  const nlohmann::json& value;
  std::string where;
  int depth = 0;   // components may hold others, which are read by recursion

  static constexpr int kDeepest = 100;

  bool has(const char* key) const;                 // and it is not null
  Json at(const char* key) const;                  // throws invalid_model where there is none
  std::vector<Json> list(const char* key) const;
  std::string text(const char* key) const;
  bool flag(const char* key, bool otherwise) const;
  std::int64_t number(const char* key, std::int64_t min, std::int64_t max) const;
  std::int64_t number(const char* key, std::int64_t min, std::int64_t max, std::int64_t otherwise) const;
  double real(const char* key, double otherwise) const;  // a number
  std::string type() const { return text("type"); }
  [[noreturn]] void wrong(const std::string& what) const;         // invalid_model
  [[noreturn]] void missing_component(const std::string& kinds) const;   // unsupported: `type` is none of `kinds`
};

}  // namespace tenfold::tokenizing
