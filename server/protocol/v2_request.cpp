// Reading infer's request.
#include <simdjson.h>

#include <charconv>

#include "core/checks.h"
#include "core/datatype.h"
#include "protocol/v2_elements.h"
#include "protocol/v2_message.h"

namespace tenfold::server {
namespace {

namespace dom = simdjson::dom;
constexpr std::size_t kMaxDepth = 100;
constexpr std::size_t kKeptParser = 1 << 20;   // a thread keeps the memory of its parser for texts of this size

[[noreturn]] void refuse(const std::string& why) { throw RequestError(Code::invalid_argument, why); }

// In Triton's words, which people search for.
[[noreturn]] void unable(const char* name, const std::string& why) { refuse("Unable to parse '" + std::string(name) + "': " + why); }
[[noreturn]] void missing(const char* name, const std::string& what) {
  unable(name, "attempt to access non-existing object member '" + std::string(name) + "', of " + what);
}

std::string_view member_text(const dom::object& object, const char* name, const std::string& what) {
  std::string_view text;
  const simdjson::error_code error = object[name].get(text);
  if (error == simdjson::NO_SUCH_FIELD) missing(name, what);
  if (error != simdjson::SUCCESS) unable(name, "attempt to access JSON non-string as string, of " + what);
  return text;
}

// An array of objects; null where the member is missing and may be.
std::optional<dom::array> member_array(const dom::object& object, const char* name, bool required) {
  dom::array array;
  const simdjson::error_code error = object[name].get(array);
  if (error == simdjson::NO_SUCH_FIELD && !required) return std::nullopt;
  if (error == simdjson::NO_SUCH_FIELD) missing(name, "the request");
  if (error != simdjson::SUCCESS) unable(name, "attempt to access JSON non-array as array");
  return array;
}

dom::object as_object(const dom::element& element, const std::string& what) {
  dom::object object;
  if (element.get(object) != simdjson::SUCCESS) refuse("Unable to parse " + what + ": it is no object");
  return object;
}

// Calls `take` for each parameter.
template <class Take>
void for_parameters(const dom::object& object, const std::string& what, const Take& take) {
  dom::element parameters;
  if (object["parameters"].get(parameters) != simdjson::SUCCESS) return;
  for (const auto field : as_object(parameters, "'parameters' of " + what)) take(field.key, field.value);
}

bool flag(const dom::element& value, std::string_view name, const std::string& what) {
  bool set = false;
  if (value.get(set) != simdjson::SUCCESS) refuse("parameter '" + std::string(name) + "' of " + what + " is neither true nor false");
  return set;
}
std::uint64_t number(const dom::element& value, std::string_view name, const std::string& what) {
  std::uint64_t given = 0;
  if (value.get(given) != simdjson::SUCCESS) refuse("parameter '" + std::string(name) + "' of " + what + " is no integer of 0 or more");
  return given;
}

// Whether the parameter is one of those that tell a place in shared memory.
bool read_shared_place(std::string_view name, const dom::element& value, const std::string& what, std::optional<SharedPlace>& place) {
  if (!name.starts_with("shared_memory_")) return false;
  if (!place) place.emplace();
  if (name == "shared_memory_region") {
    std::string_view region;
    if (value.get(region) != simdjson::SUCCESS) refuse("parameter 'shared_memory_region' of " + what + " is no string");
    place->region = std::string(region);
  } else if (name == "shared_memory_offset") {
    place->offset = number(value, name, what);
  } else if (name == "shared_memory_byte_size") {
    place->bytes = number(value, name, what);
  }
  return true;
}
void check_shared_place(const std::optional<SharedPlace>& place, const std::string& what) {
  if (!place) return;
  if (place->region.empty()) refuse(what + " has parameters of shared memory without 'shared_memory_region'");
  if (place->bytes == 0) refuse("'shared_memory_byte_size' of " + what + " is missing, or 0");
}

// The bytes behind the JSON, from front to back.
class Binary {
 public:
  Binary(std::string_view bytes, const Model& model) : left_(bytes), model_(model) {}
  std::span<const std::byte> take(std::uint64_t size, const std::string& input) {
    if (size > left_.size())
      refuse("unexpected size for input '" + input + "', expecting " + std::to_string(size - left_.size()) +
             " additional bytes for model '" + model_.name() + "'");
    const auto taken = std::as_bytes(std::span(left_.data(), static_cast<std::size_t>(size)));
    left_.remove_prefix(static_cast<std::size_t>(size));
    return taken;
  }
  std::size_t left() const { return left_.size(); }

 private:
  std::string_view left_;
  const Model& model_;
};

Shape read_shape(const dom::object& object, const std::string& what) {
  dom::array extents;
  const simdjson::error_code error = object["shape"].get(extents);
  if (error == simdjson::NO_SUCH_FIELD) missing("shape", what);
  if (error != simdjson::SUCCESS) unable("shape", "attempt to access JSON non-array as array, of " + what);
  Shape shape;
  for (const dom::element& extent : extents) {
    std::int64_t value = 0;
    if (extent.get(value) != simdjson::SUCCESS || value < 0)
      unable("shape", "attempt to access JSON non-unsigned-integer as unsigned-integer, of " + what);
    shape.push_back(value);
  }
  return shape;
}

InferInput read_input(const dom::element& element, Binary& binary, InferRequest& request) {
  const dom::object object = as_object(element, "an input");
  InferInput input;
  input.name = std::string(member_text(object, "name", "an input"));
  const std::string what = "input '" + input.name + "'";
  const std::string_view type = member_text(object, "datatype", what);
  const std::optional<DType> dtype = dtype_of_v2(type);
  if (!dtype) refuse("invalid datatype for input " + input.name + ": '" + std::string(type) + "'");
  input.dtype = *dtype;
  input.shape = read_shape(object, what);
  checked_elements(input.shape, input.name);
  std::optional<std::uint64_t> size;
  for_parameters(object, what, [&](std::string_view name, const dom::element& value) {
    if (read_shared_place(name, value, what, input.shared)) return;
    if (name == "binary_data_size") size = number(value, name, what);
  });
  dom::element data;
  const bool has_data = object["data"].get(data) == simdjson::SUCCESS;
  check_shared_place(input.shared, what);
  if (size.has_value() + has_data + input.shared.has_value() > 1)
    refuse("Input must set only one of the following fields: 'data', 'binary_data_size' in 'parameters', 'shared_memory_region' in "
           "'parameters'. But multiple fields are set, of " + what);
  if (has_data) {
    read_elements(data, input, request.memory);
  } else if (size) {
    input.pieces = {binary.take(*size, input.name)};
    if (input.dtype == DType::string) input.strings = read_bytes_elements(input.pieces, input.name), input.pieces.clear();
  } else if (!input.shared) {
    refuse("Input must set only one of the following fields: 'data', 'binary_data_size' in 'parameters', 'shared_memory_region' in "
           "'parameters'. But no field is set, of " + what);
  }
  return input;
}

void read_parameters(const dom::object& object, V2Request& read) {
  for_parameters(object, "the request", [&](std::string_view name, const dom::element& value) {
    if (name == "binary_data_output") read.forms.all_binary = flag(value, name, "the request");
    else if (name == "timeout") read.request.timeout = std::chrono::microseconds(std::min(number(value, name, "the request"),
        std::uint64_t{1} << 50));
    else if (name == "priority") read.request.priority = number(value, name, "the request");
    else if (name.starts_with("sequence_") && !(value.is_uint64() && std::uint64_t(value) == 0) && !(value.is_bool() && !bool(value)) &&
             !(value.is_string() && std::string_view(value).empty()))
      throw RequestError(Code::unsupported, "the request has '" + std::string(name) +
          "', but this server has no sequence batching: serve the "
                                            "model by Triton and libtriton_tenfold.so");
    else if (value.is_null() || value.is_array() || value.is_object())
      refuse("parameter '" + std::string(name) + "' has invalid type. It should be either 'int', 'bool', or 'string'.");
  });
}

void read_outputs(const dom::object& object, V2Request& read) {
  const std::optional<dom::array> outputs = member_array(object, "outputs", false);
  if (!outputs) return;
  for (const dom::element& element : *outputs) {
    const dom::object output = as_object(element, "an output");
    read.request.outputs.emplace_back(member_text(output, "name", "an output"));
    const std::string what = "output '" + read.request.outputs.back() + "'";
    bool binary = read.forms.all_binary;
    OutputWish wish;
    for_parameters(output, what, [&](std::string_view name, const dom::element& value) {
      if (read_shared_place(name, value, what, wish.shared)) return;
      if (name == "binary_data") binary = flag(value, name, what);
      if (name == "classification")
        wish.classes = static_cast<std::uint32_t>(std::min<std::uint64_t>(number(value, name, what), UINT32_MAX));
    });
    check_shared_place(wish.shared, what);
    if (wish.shared && wish.classes > 0) refuse("Output can't set both 'shared_memory_region' and 'classification', of " + what);
    add_wish(read.request, std::move(wish));
    read.forms.binary.push_back(binary);
    if (read.request.outputs.size() > 4096) refuse("the request has more than 4096 outputs");
  }
}

// The body is the bytes of the model's only input.
V2Request read_raw(const V2Body& body, const Model& model) {
  V2Request read;
  const BindingInfo* only = nullptr;
  for (const BindingInfo& b : model.served().bindings()) {
    if (!b.is_input || b.has_default) continue;
    if (only) refuse("raw request must only have 1 input, but model '" + model.name() + "' has more: send JSON in front of the data");
    only = &b;
  }
  if (!only) refuse("raw request: model '" + model.name() + "' has no input");
  InferInput input{only->name, only->dtype, only->shape, {}, {}};
  const auto bytes = std::as_bytes(std::span(body.bytes.data(), body.bytes.size()));
  if (only->dtype == DType::string) {
    input.strings = {std::string(body.bytes)};
    for (std::int64_t& extent : input.shape) extent = extent < 0 ? 1 : extent;
  } else {
    input.pieces = {bytes};
    std::int64_t* open = nullptr;   // the dim that the size tells; the batch dim, where another is open, is 1
    std::int64_t others = std::max(bits(only->dtype) / 8, 1);
    for (std::int64_t& extent : input.shape) {
      if (extent >= 0) others *= extent;
      else if (!open || &extent == &input.shape[1]) open = open ? (*open = 1, &extent) : &extent;
      else refuse("raw request: the shape of input '" + only->name + "' has more than one open extent: send JSON in front of the data");
    }
    if (open) *open = others > 0 ? (static_cast<std::int64_t>(bytes.size()) + others - 1) / others : 0;
  }
  read.forms.all_binary = true;
  read.request.inputs.push_back(std::move(input));
  return read;
}

std::size_t json_length(const V2Body& body) {
  if (body.header_length.empty()) return body.bytes.size();
  std::size_t length = 0;
  const auto* end = body.header_length.data() + body.header_length.size();
  const auto [stop, error] = std::from_chars(body.header_length.data(), end, length);
  if (error != std::errc() || stop != end || length > body.bytes.size())
    refuse("inference header size should be in range (0, " + std::to_string(body.bytes.size()) + "), got: " +
           std::string(body.header_length.substr(0, 64)));
  return length;
}

dom::element parse(dom::parser& parser, std::string_view text) {
  if (parser.capacity() < text.size() && parser.allocate(std::max<std::size_t>(text.size(), 4096), kMaxDepth) != simdjson::SUCCESS)
    throw std::bad_alloc();
  dom::element document;
  if (const simdjson::error_code error = parser.parse(text.data(), text.size(), false).get(document); error != simdjson::SUCCESS)
    refuse("failed to parse the request JSON buffer: " + std::string(simdjson::error_message(error)));
  return document;
}

}  // namespace

V2Request read_v2_request(const V2Body& body, const Model& model) {
  const std::size_t length = json_length(body);
  V2Request read;
  if (length == 0 && !body.header_length.empty()) {
    read = read_raw(body, model);
  } else {
    static thread_local dom::parser kept;
    dom::parser large;
    const std::string_view text = body.bytes.substr(0, length);
    const dom::object object = as_object(parse(length > kKeptParser ? large : kept, text), "the request");
    std::string_view id;
    const simdjson::error_code has_id = object["id"].get(id);
    if (has_id != simdjson::SUCCESS && has_id != simdjson::NO_SUCH_FIELD) unable("id", "attempt to access JSON non-string as string");
    read.request.id = std::string(id);
    read_parameters(object, read);
    Binary binary(body.bytes.substr(length), model);
    const std::optional<dom::array> inputs = member_array(object, "inputs", true);
    for (const dom::element& element : *inputs) read.request.inputs.push_back(read_input(element, binary, read.request));
    if (binary.left() > 0)
      refuse("unexpected additional input data for model '" + model.name() + "'");
    read_outputs(object, read);
  }
  read.request.memory.push_back(body.owner);
  return read;
}

}  // namespace tenfold::server
