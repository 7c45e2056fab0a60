#include "routes/pattern_routes.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <functional>

#include "core/datatype.h"
#include "observe/json_writer.h"
#include "protocol/json_text.h"
#include "protocol/v2_elements.h"

namespace tenfold::server {
namespace {

namespace dom = simdjson::dom;

[[noreturn]] void refuse(const std::string& why) { throw RequestError(Code::invalid_argument, why); }

// The bytes of the window that the body has, which `memory` keeps.
std::span<const std::byte> read_window(std::string_view body, const BindingInfo& binding,
                                       std::vector<std::shared_ptr<const void>>& memory) {
  dom::parser parser;
  dom::object object;
  dom::element window;
  const std::string text(body);
  if (parser.parse(text).get(object) != simdjson::SUCCESS) refuse("failed to parse the request JSON buffer: expected an object");
  if (object["window"].get(window) != simdjson::SUCCESS) refuse("the request has no 'window': {\"window\": [...]} is expected");
  InferInput input{"window", binding.dtype, binding.shape, {}, {}};
  read_elements(window, input, memory);
  if (input.pieces.empty()) return {};
  return input.pieces[0];
}

// Elements as lists within lists, as the shape has them; `element` writes the one with that number.
void append_nested(std::string& out, const Shape& shape, std::size_t axis, std::int64_t& number,
                   const std::function<void(std::int64_t)>& element) {
  if (axis == shape.size()) return element(number++);
  out += '[';
  for (std::int64_t i = 0; i < shape[axis]; ++i) {
    if (i > 0) out += ',';
    append_nested(out, shape, axis + 1, number, element);
  }
  out += ']';
}

template <class T>
void add_values(std::vector<double>& values, std::span<const std::byte> bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    values.push_back(static_cast<double>(value));
  }
}

std::vector<double> values_of(DType dtype, std::span<const std::byte> bytes) {
  std::vector<double> values;
  switch (dtype) {
    case DType::f32: add_values<float>(values, bytes); break;
    case DType::f64: add_values<double>(values, bytes); break;
    case DType::i8: add_values<std::int8_t>(values, bytes); break;
    case DType::i16: add_values<std::int16_t>(values, bytes); break;
    case DType::i32: add_values<std::int32_t>(values, bytes); break;
    case DType::i64: add_values<std::int64_t>(values, bytes); break;
    case DType::u16: add_values<std::uint16_t>(values, bytes); break;
    case DType::u32: add_values<std::uint32_t>(values, bytes); break;
    case DType::u64: add_values<std::uint64_t>(values, bytes); break;
    default: add_values<std::uint8_t>(values, bytes); break;
  }
  return values;
}

// Softmax along the last axis.
void to_probabilities(std::vector<double>& values, std::int64_t width) {
  for (auto row = values.begin(); row < values.end() && width > 0; row += width) {
    const double largest = *std::max_element(row, row + width);
    double sum = 0;
    for (auto value = row; value < row + width; ++value) sum += *value = std::exp(*value - largest);
    for (auto value = row; value < row + width; ++value) *value /= sum;
  }
}

void append_number(std::string& out, double value) {
  char text[32];
  out.append(text, std::to_chars(text, text + sizeof text, static_cast<float>(value)).ptr);
}

HttpResponse window_response(const WindowAnswer& answer, const BindingInfo& output) {
  const std::size_t width = static_cast<std::size_t>(bits(output.dtype)) / 8;
  std::int64_t number = 0;
  std::string json = "{\"output\":";
  append_nested(json, output.shape, 0, number, [&](std::int64_t i) {
    append_elements(json, output.dtype, answer.output.data() + static_cast<std::size_t>(i) * width, 1, output.name);
  });
  if (output.shape.empty()) json.insert(json.find(':') + 1, "["), json += "]";
  std::vector<double> probabilities = values_of(output.dtype, answer.output);
  to_probabilities(probabilities, output.shape.empty() ? 1 : output.shape.back());
  json += ",\"probs\":[";
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    if (i > 0) json += ',';
    append_number(json, probabilities[i]);
  }
  json += "]";
  if (!answer.fallback.empty()) json += ",\"fallback\":" + json_string(answer.fallback);
  return json_response(json + "}");
}

std::string binding_json(const BindingInfo& binding) {
  return JsonObject().add("name", binding.name).add("datatype", v2_name(binding.dtype)).raw("shape", json_shape(binding.shape)).text();
}

HttpResponse status(const PatternEngine& engine) {
  std::string why;
  if (!engine.ready(&why)) return json_response(JsonObject().add("loaded", false).add("why", why).raw("candidates", "[]").text());
  JsonList candidates;
  for (const CandidateState& one : engine.runner().candidates())
    candidates.add(JsonObject()
                       .add("name", one.name)
                       .add("opened", one.opened)
                       .add("answers", one.answers)
                       .add("answered", one.answered)
                       .add("why", one.why));
  const RunnerCounts counts = engine.runner().counts();
  return json_response(JsonObject()
                           .add("loaded", true)
                           .add("backend", engine.runner().backend())
                           .raw("input", binding_json(engine.input()))
                           .raw("output", binding_json(engine.output()))
                           .add("answered", counts.answered)
                           .add("failed", counts.failed)
                           .add("fell", counts.fell)
                           .raw("candidates", candidates.text())
                           .text());
}

HttpResponse ready(const PatternEngine& engine) {
  std::string why;
  if (engine.ready(&why)) return json_response(JsonObject().add("ready", true).text());
  HttpResponse response = json_response(JsonObject().add("ready", false).add("why", why).text(), 503);
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

}  // namespace

void add_pattern_routes(Router& router, const std::shared_ptr<PatternEngine>& engine) {
  RouteFamily family = router.family(error_response);
  family.add("POST", "/infer", [engine](const RoutedRequest& request) {
    if (!engine->ready()) throw RequestError(Code::unavailable, "the pattern engine is not ready");
    std::vector<std::shared_ptr<const void>> memory;
    const auto window = read_window(request.exchange->request().text(), engine->input(), memory);
    request.exchange->respond(window_response(engine->infer(window), engine->output()));
  });
  family.get("/model/status", [engine](const RoutedRequest&) { return status(*engine); });
  family.get("/ready", [engine](const RoutedRequest&) { return ready(*engine); });
}

}  // namespace tenfold::server
