// Tensors of protobuf, typed or raw.
#include "protocol/grpc_tensors.h"

#include <cstring>
#include <limits>

#include "core/checks.h"
#include "core/datatype.h"
#include "grpc_service.pb.h"

namespace tenfold::server::grpc {
namespace {

using inference::InferParameter;
using inference::InferTensorContents;
using InputTensor = inference::ModelInferRequest::InferInputTensor;
constexpr const char* kServeByTriton = ": serve the model by Triton and libtriton_tenfold.so";

[[noreturn]] void refuse(const std::string& why) { throw RequestError(Code::invalid_argument, why); }

// Numbers of a repeated field as elements of type T, which may be smaller.
template <class T>
void store(const auto& values, InferInput& input, InferRequest& request) {
  auto memory = std::make_shared<std::vector<T>>();
  memory->reserve(static_cast<std::size_t>(values.size()));
  for (const auto value : values) {
    if constexpr (!std::is_floating_point_v<T> && !std::is_same_v<T, bool>)
      if (!std::in_range<T>(value))
        refuse("input '" + input.name + "' has the value " + std::to_string(value) + ", which does not fit into " +
               std::string(v2_name(input.dtype)));
    memory->push_back(static_cast<T>(value));
  }
  input.pieces = {std::as_bytes(std::span<const T>(*memory))};
  request.memory.push_back(std::move(memory));
}

void store_bools(const InferTensorContents& contents, InferInput& input, InferRequest& request) {
  auto memory = std::make_shared<std::vector<std::uint8_t>>(contents.bool_contents().begin(), contents.bool_contents().end());
  input.pieces = {std::as_bytes(std::span<const std::uint8_t>(*memory))};
  request.memory.push_back(std::move(memory));
}

// Of the lists that `contents` may have, the one for the input's type has the elements; the others are empty.
void check_lists(const InferTensorContents& contents, const InferInput& input, const InferRequest& request) {
  const auto which = [&]() -> std::string_view {
    switch (input.dtype) {
      case DType::i8: case DType::i16: return "INT32";
      case DType::u8: case DType::u16: return "UINT32";
      default: return v2_name(input.dtype);
    }
  };
  const std::pair<std::string_view, int> lists[] = {
      {"BOOL", contents.bool_contents_size()}, {"INT32", contents.int_contents_size()}, {"INT64", contents.int64_contents_size()},
      {"UINT32", contents.uint_contents_size()}, {"UINT64", contents.uint64_contents_size()}, {"FP32", contents.fp32_contents_size()},
      {"FP64", contents.fp64_contents_size()}, {"BYTES", contents.bytes_contents_size()}};
  for (const auto& [type, size] : lists)
    if (size > 0 && type != which())
      refuse("unexpected explicit tensor data for input tensor '" + input.name + "' for model '" + request.model + "' of type '" +
             std::string(type) + "', expected datatype '" + std::string(v2_name(input.dtype)) + "'");
}

void read_contents(const InferTensorContents& contents, InferInput& input, InferRequest& request) {
  switch (input.dtype) {
    case DType::boolean: return store_bools(contents, input, request);
    case DType::i8: return store<std::int8_t>(contents.int_contents(), input, request);
    case DType::i16: return store<std::int16_t>(contents.int_contents(), input, request);
    case DType::i32: return store<std::int32_t>(contents.int_contents(), input, request);
    case DType::i64: return store<std::int64_t>(contents.int64_contents(), input, request);
    case DType::u8: return store<std::uint8_t>(contents.uint_contents(), input, request);
    case DType::u16: return store<std::uint16_t>(contents.uint_contents(), input, request);
    case DType::u32: return store<std::uint32_t>(contents.uint_contents(), input, request);
    case DType::u64: return store<std::uint64_t>(contents.uint64_contents(), input, request);
    case DType::f32: return store<float>(contents.fp32_contents(), input, request);
    case DType::f64: return store<double>(contents.fp64_contents(), input, request);
    case DType::string: input.strings.assign(contents.bytes_contents().begin(), contents.bytes_contents().end()); return;
    default:
      refuse("input '" + input.name + "' of " + std::string(v2_name(input.dtype)) +
             " must be in raw_input_contents: contents has no such type");
  }
}

std::uint64_t number(const InferParameter& value, const std::string& name) {
  if (value.parameter_choice_case() == InferParameter::kUint64Param) return value.uint64_param();
  if (value.parameter_choice_case() != InferParameter::kInt64Param || value.int64_param() < 0)
    refuse("parameter '" + name + "' of the request is no integer of 0 or more");
  return static_cast<std::uint64_t>(value.int64_param());
}

bool is_nothing(const InferParameter& value) {
  return !value.bool_param() && value.int64_param() == 0 && value.string_param().empty() && value.double_param() == 0 &&
         value.uint64_param() == 0;
}

void read_parameters(const inference::ModelInferRequest& message, InferRequest& request) {
  for (const auto& [name, value] : message.parameters()) {
    if (name == "timeout") {
      request.timeout = std::chrono::microseconds(std::min(number(value, name), std::uint64_t{1} << 50));
    } else if (name == "priority") {
      request.priority = number(value, name);
    } else if (name.starts_with("sequence_") && !is_nothing(value)) {
      throw RequestError(Code::unsupported, "the request has '" + name + "', but this server has no sequence batching" + kServeByTriton);
    }
  }
}

// Where the parameters say that the tensor lies in shared memory.
std::optional<SharedPlace> shared_place(const auto& parameters, const std::string& what) {
  std::optional<SharedPlace> place;
  for (const auto& [name, value] : parameters) {
    if (!name.starts_with("shared_memory_")) continue;
    if (!place) place.emplace();
    if (name == "shared_memory_region") place->region = value.string_param();
    else if (name == "shared_memory_offset") place->offset = number(value, name);
    else if (name == "shared_memory_byte_size") place->bytes = number(value, name);
  }
  if (!place) return place;
  if (place->region.empty()) refuse(what + " has parameters of shared memory without 'shared_memory_region'");
  if (place->bytes == 0) refuse("'shared_memory_byte_size' of " + what + " is missing, or 0");
  return place;
}

OutputWish read_wish(const auto& output) {
  OutputWish wish;
  const std::string what = "output '" + output.name() + "'";
  wish.shared = shared_place(output.parameters(), what);
  const auto classes = output.parameters().find("classification");
  if (classes != output.parameters().end())
    wish.classes = static_cast<std::uint32_t>(std::min<std::uint64_t>(number(classes->second, classes->first), UINT32_MAX));
  if (wish.shared && wish.classes > 0) refuse("Output can't set both 'shared_memory_region' and 'classification', of " + what);
  return wish;
}

InferInput read_input(const InputTensor& tensor, const std::string* raw, InferRequest& request) {
  InferInput input;
  input.name = tensor.name();
  input.shared = shared_place(tensor.parameters(), "input '" + input.name + "'");
  const auto dtype = dtype_of_v2(tensor.datatype());
  if (!dtype) refuse("invalid datatype for input '" + input.name + "': '" + tensor.datatype() + "'");
  input.dtype = *dtype;
  input.shape.assign(tensor.shape().begin(), tensor.shape().end());
  checked_elements(input.shape, input.name);
  if (input.shared) {
    if (tensor.has_contents()) refuse("input '" + input.name + "' has both contents and a place in shared memory");
    return input;
  }
  if (!raw) {
    if (!tensor.has_contents() && checked_elements(input.shape, input.name) > 0)
      refuse("unable to find data for input tensor '" + input.name + "' for model '" + request.model + "' in request.");
    read_contents(tensor.contents(), input, request);
    check_lists(tensor.contents(), input, request);
    return input;
  }
  if (tensor.has_contents())
    refuse("contents field must not be specified when using raw_input_contents for '" + input.name + "' for model '" + request.model + "'");
  input.pieces = {std::as_bytes(std::span(raw->data(), raw->size()))};
  if (input.dtype == DType::string) input.strings = read_bytes_elements(input.pieces, input.name), input.pieces.clear();
  return input;
}

// The head of a field of protobuf with `size` bytes in it.
void append_head(std::string& out, int field, std::size_t size) {
  out.push_back(static_cast<char>(field << 3 | 2));
  for (; size >= 128; size >>= 7) out.push_back(static_cast<char>(size % 128 + 128));
  out.push_back(static_cast<char>(size));
}

}  // namespace

InferRequest read_infer_request(const inference::ModelInferRequest& message, std::vector<std::shared_ptr<const void>> memory) {
  InferRequest request{.model = message.model_name(), .version = message.model_version(), .id = message.id(), .memory = std::move(memory)};
  const int raw = message.raw_input_contents_size();
  int sent = 0;                                    // inputs that are not in shared memory
  for (const auto& input : message.inputs()) sent += !input.parameters().contains("shared_memory_region");
  if (raw != 0 && raw != sent)
    refuse("raw_input_contents has " + std::to_string(raw) + " tensors and inputs has " + std::to_string(sent) +
           " outside of shared memory: each of them needs one");
  read_parameters(message, request);
  int next = 0;
  for (const InputTensor& input : message.inputs()) {
    const bool is_raw = raw > 0 && !input.parameters().contains("shared_memory_region");
    request.inputs.push_back(read_input(input, is_raw ? &message.raw_input_contents(next++) : nullptr, request));
  }
  for (const auto& output : message.outputs()) {
    request.outputs.push_back(output.name());
    add_wish(request, read_wish(output));
  }
  return request;
}

std::string write_infer_response(const InferAnswer& answer) {
  inference::ModelInferResponse response;
  response.set_model_name(answer.model);
  response.set_model_version(answer.version);
  response.set_id(answer.id);
  std::vector<std::string> texts(answer.outputs.size());
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < answer.outputs.size(); ++i) {
    const InferOutput& output = answer.outputs[i];
    auto& tensor = *response.add_outputs();
    tensor.set_name(output.name);
    tensor.set_datatype(std::string(v2_name(output.dtype)));
    tensor.mutable_shape()->Add(output.shape.begin(), output.shape.end());
    if (output.dtype == DType::string) texts[i] = write_bytes_elements(output.strings);
    bytes += texts[i].size() + output.bytes.size + 16;
  }
  std::string out = response.SerializeAsString();
  out.reserve(out.size() + bytes);
  for (std::size_t i = 0; i < answer.outputs.size(); ++i) {
    const InferOutput& output = answer.outputs[i];
    const bool text = output.dtype == DType::string;
    append_head(out, inference::ModelInferResponse::kRawOutputContentsFieldNumber, text ? texts[i].size() : output.bytes.size);
    if (text)
      out += texts[i];
    else
      out.append(reinterpret_cast<const char*>(output.bytes.data.get()), output.bytes.size);
  }
  return out;
}

std::string write_stream_response(const InferAnswer& answer) {
  if (!answer.status) {
    inference::ModelStreamInferResponse response;
    response.set_error_message(answer.status.message);
    response.mutable_infer_response()->set_id(answer.id);
    return response.SerializeAsString();
  }
  // As Triton, which says it of each answer of a stream; the bytes of a field may follow those of the others.
  static const std::string last = [] {
    inference::ModelInferResponse response;
    (*response.mutable_parameters())["triton_final_response"].set_bool_param(true);
    return response.SerializeAsString();
  }();
  const std::string inner = write_infer_response(answer) + last;
  std::string out;
  out.reserve(inner.size() + 8);
  append_head(out, inference::ModelStreamInferResponse::kInferResponseFieldNumber, inner.size());
  return out += inner;
}

CallStatus status_of(const Status& status) {
  const auto code = [&] {
    switch (status.code) {
      case Code::ok: return StatusCode::ok;
      case Code::not_found: return StatusCode::not_found;
      case Code::invalid_argument: return StatusCode::invalid_argument;
      case Code::unavailable: return StatusCode::unavailable;
      case Code::unsupported: return StatusCode::unimplemented;
      case Code::cancelled: return StatusCode::cancelled;
      case Code::deadline: return StatusCode::deadline_exceeded;
      default: return StatusCode::internal;
    }
  }();
  return {code, status.message};
}

}  // namespace tenfold::server::grpc
