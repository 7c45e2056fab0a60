// Reading requests, and answering them. Elements of BYTES have their length in front, 4 bytes, little endian.
#include "triton_request.h"

#include <algorithm>
#include <cstring>

#include "errors.h"
#include "newer_api.h"
#include "types.h"

namespace tenfold::triton {
namespace {

std::uint32_t length_at(const std::string& bytes, std::size_t at) {
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data() + at, sizeof length);
  return length;
}

std::string joined(std::span<const std::span<const std::byte>> pieces) {
  std::string all;
  for (const auto& piece : pieces) all.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  return all;
}

}  // namespace

std::uint64_t nanoseconds(std::chrono::steady_clock::time_point time) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

TritonRequest::TritonRequest(TRITONBACKEND_Request* request, std::span<const BindingInfo> bindings, const std::string& host_policy)
    : request_(request), bindings_(bindings), requested_(bindings_.size()) {
  try {
    as_error([&] { read(host_policy.empty() ? nullptr : host_policy.c_str()); });
  } catch (const Error& error) {
    refused_ = error;
  }
}

void TritonRequest::read(const char* host_policy) {
  std::uint32_t count = 0;
  must(TRITONBACKEND_RequestInputCount(request_, &count));
  inputs_.reserve(count), pieces_.reserve(count), strings_.reserve(count);   // inputs point into the others
  for (std::uint32_t i = 0; i < count; ++i) {
    TRITONBACKEND_Input* input = nullptr;
    must(TRITONBACKEND_RequestInputByIndex(request_, i, &input));
    read_input(input, host_policy);
  }
  must(TRITONBACKEND_RequestOutputCount(request_, &count));
  for (std::uint32_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    must(TRITONBACKEND_RequestOutputName(request_, i, &name));
    for (std::size_t b = 0; b < bindings_.size(); ++b)
      if (!bindings_[b].is_input && bindings_[b].name == name) requested_[b] = true;
  }
}

void TritonRequest::read_input(TRITONBACKEND_Input* input, const char* host_policy) {
  const char* name = nullptr;
  TRITONSERVER_DataType type = kTritonInvalid;
  const std::int64_t* shape = nullptr;
  std::uint32_t rank = 0, buffers = 0;
  std::uint64_t bytes = 0;
  must(TRITONBACKEND_InputPropertiesForHostPolicy(input, host_policy, &name, &type, &shape, &rank, &bytes, &buffers));
  const std::optional<DType> dtype = dtype_of(type);
  if (!dtype) throw Error(ErrorKind::invalid_argument, "input '" + std::string(name) + "' has no type");
  RequestInput read{name, *dtype, {shape, rank}, {}, nullptr};
  // What has no dims, or the batch dim alone, has one more of 1 in Triton's configurations.
  const auto own = std::find_if(bindings_.begin(), bindings_.end(), [&](const BindingInfo& b) { return b.is_input && b.name == name; });
  if (own != bindings_.end() && own->shape.size() <= 1 && rank == own->shape.size() + 1 && shape[rank - 1] == 1)
    read.shape = read.shape.first(rank - 1);
  auto& pieces = pieces_.emplace_back();
  for (std::uint32_t i = 0; i < buffers; ++i) {
    const void* buffer = nullptr;
    TRITONSERVER_MemoryType memory = kTritonCpu;
    std::int64_t id = 0;
    must(TRITONBACKEND_InputBufferForHostPolicy(input, host_policy, i, &buffer, &bytes, &memory, &id));
    if (memory == kTritonGpu)
      throw Error(ErrorKind::unsupported, "input '" + std::string(name) + "' lies in GPU memory, which the backend 'tenfold' does not "
                                          "read: send it, or share system memory");
    pieces.emplace_back(static_cast<const std::byte*>(buffer), bytes);
  }
  read.pieces = pieces;
  if (*dtype == DType::string) read_strings(read);
  inputs_.push_back(read);
}

void TritonRequest::read_strings(RequestInput& input) {
  const std::string bytes = joined(input.pieces);
  std::vector<std::string>& strings = strings_.emplace_back();
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t left = bytes.size() - at;
    if (left < 4 || length_at(bytes, at) > left - 4)
      throw Error(ErrorKind::invalid_argument, "input '" + std::string(input.name) + "' of BYTES is cut off in element " +
                                                   std::to_string(strings.size()) + ": each has its length in front, 4 bytes");
    const std::uint32_t length = length_at(bytes, at);
    strings.push_back(bytes.substr(at + 4, length));
    at += 4 + length;
  }
  input.strings = &strings;
}

bool TritonRequest::cancelled() const {
  bool cancelled = false;
  const auto ask = newer_api().request_is_cancelled;
  return ask && !failed(ask(request_, &cancelled)) && cancelled;
}

TRITONBACKEND_Response* TritonRequest::response() {
  if (!response_) must(TRITONBACKEND_ResponseNew(&response_, request_));
  return response_;
}

void* TritonRequest::output_memory(int output, std::span<const std::int64_t> shape, std::int64_t bytes) {
  const BindingInfo& binding = bindings_[static_cast<std::size_t>(output)];
  TRITONBACKEND_Output* made = nullptr;
  must(TRITONBACKEND_ResponseOutput(response(), &made, binding.name.c_str(), triton_type(binding.dtype), shape.data(),
                                    static_cast<std::uint32_t>(shape.size())));
  void* buffer = nullptr;
  TRITONSERVER_MemoryType memory = kTritonCpu;
  std::int64_t id = 0;
  must(TRITONBACKEND_OutputBuffer(made, &buffer, static_cast<std::uint64_t>(bytes), &memory, &id));
  if (memory == kTritonGpu)
    throw Error(ErrorKind::unsupported, "output '" + binding.name + "' is requested in GPU memory, where the backend 'tenfold' does not "
                                        "write: receive it, or share system memory");
  return buffer;
}

void TritonRequest::take_strings(int output, std::span<const std::int64_t> shape, std::span<const std::string> values) {
  std::int64_t bytes = 0;
  for (const std::string& value : values) bytes += 4 + static_cast<std::int64_t>(value.size());
  auto* to = static_cast<std::byte*>(output_memory(output, shape, bytes));
  for (const std::string& value : values) {
    const auto length = static_cast<std::uint32_t>(value.size());
    std::memcpy(to, &length, 4);
    std::memcpy(to + 4, value.data(), value.size());
    to += 4 + value.size();
  }
}

void TritonRequest::finish(const RequestOutcome& outcome) noexcept {
  if (outcome.run) run_ = *outcome.run;
  succeeded_ = !outcome.error;
  TRITONSERVER_Error* error = outcome.error ? to_triton(*outcome.error) : nullptr;
  if (!response_ && failed(TRITONBACKEND_ResponseNew(&response_, request_))) {
    if (error) TRITONSERVER_ErrorDelete(error);
    return;
  }
  failed(TRITONBACKEND_ResponseSend(response_, kTritonResponseFinal, error));
  if (error) TRITONSERVER_ErrorDelete(error);
}

void TritonRequest::release(TRITONBACKEND_ModelInstance* instance, std::uint64_t start_ns) noexcept {
  // The response was sent already, so the run's end is this request's.
  const std::uint64_t now = nanoseconds(std::chrono::steady_clock::now());
  const auto time = [&](auto BatchRun::*point, std::uint64_t without) { return run_ ? nanoseconds((*run_).*point) : without; };
  failed(TRITONBACKEND_ModelInstanceReportStatistics(instance, request_, succeeded_, time(&BatchRun::start, start_ns),
                                                     time(&BatchRun::compute_start, start_ns),
                                                     time(&BatchRun::compute_end, start_ns), time(&BatchRun::end, now)));
  failed(TRITONBACKEND_RequestRelease(request_, kTritonReleaseAll));
}

}  // namespace tenfold::triton
