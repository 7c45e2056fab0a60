// The JSON body of a text route, field by field. What is wrong is thrown as TextError, which names the field.
#pragma once

#include <simdjson.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text_requests/text_error.h"

namespace tenfold::server {

// Texts, or ids of texts.
struct TextInputs {
  bool single = false;                           // one, and no list of one
  std::vector<std::string_view> texts;
  std::vector<std::vector<std::int32_t>> ids;    // in place of texts
  std::size_t size() const { return texts.empty() ? ids.size() : texts.size(); }
};
// A text, or a pair of them.
struct TextOrPair {
  std::string_view first;
  std::optional<std::string_view> second;
};

// Views are valid as long as the request.
class JsonRequest {
 public:
  explicit JsonRequest(std::string_view body);   // with 64 readable bytes behind it
  bool has(const char* name) const;              // and is not null
  std::string_view text(const char* name) const;
  std::string text_or(const char* name, const std::string& value) const;
  bool flag(const char* name, bool value) const;
  std::int64_t integer(const char* name, std::int64_t value, std::int64_t min) const;
  std::vector<std::string_view> texts(const char* name, std::size_t max) const;        // a list, maybe of objects with `text`
  TextInputs inputs(const char* name, std::size_t max, bool allow_ids) const;          // a text or a list; ids likewise
  std::vector<TextOrPair> pairs(const char* name, std::size_t max, bool& single) const;   // as TEI's /predict has them
  TextInputs ids(const char* name, std::size_t max) const;                             // a list of ids, or a list of such lists
  bool is_object(const char* name) const;
  JsonRequest object(const char* name) const;    // the member, an object; an empty one where it is missing

 private:
  JsonRequest(std::shared_ptr<simdjson::dom::parser> parser, simdjson::dom::object object) : parser_(std::move(parser)), object_(object) {}
  std::optional<simdjson::dom::element> find(const char* name) const;
  simdjson::dom::element need(const char* name) const;

  std::shared_ptr<simdjson::dom::parser> parser_;
  std::optional<simdjson::dom::object> object_;  // not set: one without members
};

}  // namespace tenfold::server
