#include "text_requests/json_request.h"

#include <limits>

namespace tenfold::server {
namespace {

namespace dom = simdjson::dom;
constexpr std::size_t kMaxDepth = 64;

[[noreturn]] void wrong(const char* name, const std::string& expected) {
  throw TextError(TextFault::field, "'" + std::string(name) + "' is not " + expected, name);
}

void check_count(const char* name, std::size_t count, std::size_t max) {
  if (count == 0) throw TextError(TextFault::empty, "'" + std::string(name) + "' cannot be empty", name);
  if (count > max)
    throw TextError(TextFault::too_many, "batch size " + std::to_string(count) + " > maximum allowed batch size " + std::to_string(max) +
                                             " ('" + name + "'; --max-client-batch-size raises it)", name);
}

std::vector<std::int32_t> read_ids(const dom::array& array, const char* name) {
  std::vector<std::int32_t> ids;
  for (const dom::element& element : array) {
    std::int64_t id = 0;
    if (element.get(id) != simdjson::SUCCESS) wrong(name, "a list of texts, or of token ids");
    if (id < 0 || id > std::numeric_limits<std::int32_t>::max())
      throw TextError(TextFault::tokenizer, "'" + std::string(name) + "' has the token id " + std::to_string(id) +
                                                ", which no vocabulary has", name);
    ids.push_back(static_cast<std::int32_t>(id));
  }
  return ids;
}

// Pieces as [a] or [a, b].
TextOrPair read_pair(const dom::array& array, const char* name) {
  std::vector<std::string_view> parts;
  for (const dom::element& element : array) {
    std::string_view text;
    if (element.get(text) != simdjson::SUCCESS) wrong(name, "a text, a pair of texts, or a list of [text] and [text, text]");
    parts.push_back(text);
  }
  if (parts.empty() || parts.size() > 2) wrong(name, "a text, a pair of texts, or a list of [text] and [text, text]");
  return {parts[0], parts.size() == 2 ? std::optional(parts[1]) : std::nullopt};
}

}  // namespace

JsonRequest::JsonRequest(std::string_view body) : parser_(std::make_shared<dom::parser>()) {
  if (parser_->allocate(std::max<std::size_t>(body.size(), 4096), kMaxDepth) != simdjson::SUCCESS) throw std::bad_alloc();
  dom::element document;
  if (const simdjson::error_code error = parser_->parse(body.data(), body.size(), false).get(document); error != simdjson::SUCCESS)
    throw TextError(TextFault::syntax, "failed to parse the request body as JSON: " + std::string(simdjson::error_message(error)));
  dom::object object;
  if (document.get(object) != simdjson::SUCCESS) throw TextError(TextFault::field, "the request body is no JSON object");
  object_ = object;
}

std::optional<dom::element> JsonRequest::find(const char* name) const {
  dom::element element;
  if (!object_ || (*object_)[name].get(element) != simdjson::SUCCESS || element.is_null()) return std::nullopt;
  return element;
}

dom::element JsonRequest::need(const char* name) const {
  if (const auto found = find(name)) return *found;
  throw TextError(TextFault::field, "missing field '" + std::string(name) + "'", name);
}

bool JsonRequest::has(const char* name) const { return find(name).has_value(); }

std::string_view JsonRequest::text(const char* name) const {
  std::string_view text;
  if (need(name).get(text) != simdjson::SUCCESS) wrong(name, "a text");
  return text;
}

std::string JsonRequest::text_or(const char* name, const std::string& value) const { return has(name) ? std::string(text(name)) : value; }

bool JsonRequest::flag(const char* name, bool value) const {
  const auto found = find(name);
  if (found && found->get(value) != simdjson::SUCCESS) wrong(name, "true or false");
  return value;
}

std::int64_t JsonRequest::integer(const char* name, std::int64_t value, std::int64_t min) const {
  const auto found = find(name);
  if (found && (found->get(value) != simdjson::SUCCESS || value < min)) wrong(name, "an integer of " + std::to_string(min) + " or more");
  return value;
}

std::vector<std::string_view> JsonRequest::texts(const char* name, std::size_t max) const {
  dom::array array;
  if (need(name).get(array) != simdjson::SUCCESS) wrong(name, "a list of texts");
  std::vector<std::string_view> texts;
  for (const dom::element& element : array) {
    std::string_view text;
    dom::object object;
    if (element.get(object) == simdjson::SUCCESS ? object["text"].get(text) != simdjson::SUCCESS : element.get(text) != simdjson::SUCCESS)
      wrong(name, "a list of texts");
    texts.push_back(text);
  }
  check_count(name, texts.size(), max);
  return texts;
}

TextInputs JsonRequest::inputs(const char* name, std::size_t max, bool allow_ids) const {
  const dom::element element = need(name);
  TextInputs inputs;
  std::string_view text;
  if (element.get(text) == simdjson::SUCCESS) {
    inputs.single = true, inputs.texts = {text};
    return inputs;
  }
  dom::array array;
  if (element.get(array) != simdjson::SUCCESS) wrong(name, "a text or a list of texts");
  const bool has_ids = array.begin() != array.end() && ((*array.begin()).is_int64() || (*array.begin()).is_array());
  if (has_ids && !allow_ids)
    throw TextError(TextFault::field, "'" + std::string(name) +
                                          "' has token ids, which mean other texts in other vocabularies: send texts (langchain-openai: "
                                          "check_embedding_ctx_length=False), or start the server with --allow-token-input", name);
  if (has_ids) return ids(name, max);
  for (const dom::element& one : array) {
    if (one.get(text) != simdjson::SUCCESS) wrong(name, "a text or a list of texts");
    inputs.texts.push_back(text);
  }
  check_count(name, inputs.texts.size(), max);
  return inputs;
}

TextInputs JsonRequest::ids(const char* name, std::size_t max) const {
  dom::array array;
  if (need(name).get(array) != simdjson::SUCCESS) wrong(name, "a list of token ids");
  TextInputs inputs;
  inputs.single = array.begin() != array.end() && !(*array.begin()).is_array();
  if (inputs.single) {
    inputs.ids = {read_ids(array, name)};
    return inputs;
  }
  for (const dom::element& one : array) {
    dom::array of_text;
    if (one.get(of_text) != simdjson::SUCCESS) wrong(name, "a list of lists of token ids");
    inputs.ids.push_back(read_ids(of_text, name));
  }
  check_count(name, inputs.ids.size(), max);
  return inputs;
}

std::vector<TextOrPair> JsonRequest::pairs(const char* name, std::size_t max, bool& single) const {
  const dom::element element = need(name);
  std::string_view text;
  single = element.get(text) == simdjson::SUCCESS;
  if (single) return {{text, std::nullopt}};
  dom::array array;
  if (element.get(array) != simdjson::SUCCESS) wrong(name, "a text, a pair of texts, or a list of [text] and [text, text]");
  single = array.begin() != array.end() && (*array.begin()).is_string();
  if (single) return {read_pair(array, name)};
  std::vector<TextOrPair> pairs;
  for (const dom::element& one : array) {
    dom::array parts;
    if (one.get(parts) != simdjson::SUCCESS) wrong(name, "a text, a pair of texts, or a list of [text] and [text, text]");
    pairs.push_back(read_pair(parts, name));
  }
  check_count(name, pairs.size(), max);
  return pairs;
}

bool JsonRequest::is_object(const char* name) const {
  const auto found = find(name);
  return found && found->is_object();
}

JsonRequest JsonRequest::object(const char* name) const {
  JsonRequest member = *this;
  member.object_.reset();
  dom::object object;
  const auto found = find(name);
  if (!found) return member;
  if (found->get(object) != simdjson::SUCCESS) wrong(name, "an object");
  member.object_ = object;
  return member;
}

}  // namespace tenfold::server
