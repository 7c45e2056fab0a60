// A request of Triton's as a ServedRequest, and its response.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model_state.h"

namespace tenfold::triton {

class TritonRequest final : public ServedRequest {
 public:
  // Reads the request. What is wrong with it is kept for refused().
  // `host_policy`: by which Triton places inputs; empty: none.
  TritonRequest(TRITONBACKEND_Request* request, std::span<const BindingInfo> bindings, const std::string& host_policy);
  TritonRequest(const TritonRequest&) = delete;
  TritonRequest& operator=(const TritonRequest&) = delete;

  const std::optional<Error>& refused() const { return refused_; }   // why it cannot run; it has to be finished with this
  std::span<const RequestInput> inputs() const override { return inputs_; }
  bool cancelled() const override;
  bool requests_output(int output) const override { return requested_[static_cast<std::size_t>(output)]; }
  void* output_memory(int output, std::span<const std::int64_t> shape, std::int64_t bytes) override;
  void take_strings(int output, std::span<const std::int64_t> shape, std::span<const std::string> values) override;
  void finish(const RequestOutcome& outcome) noexcept override;

  // After finish(): reports the times, those of a request that did not run from `start_ns` on, and gives it back to
  // Triton.
  void release(TRITONBACKEND_ModelInstance* instance, std::uint64_t start_ns) noexcept;

 private:
  void read(const char* host_policy);
  void read_input(TRITONBACKEND_Input* input, const char* host_policy);
  void read_strings(RequestInput& input);
  TRITONBACKEND_Response* response();            // made when it is needed first

  TRITONBACKEND_Request* request_;
  TRITONBACKEND_Response* response_ = nullptr;
  std::span<const BindingInfo> bindings_;
  std::vector<RequestInput> inputs_;
  std::vector<std::vector<std::span<const std::byte>>> pieces_;
  std::vector<std::vector<std::string>> strings_;
  std::vector<bool> requested_;                  // by binding
  std::optional<Error> refused_;
  std::optional<BatchRun> run_;
  bool succeeded_ = false;
};

std::uint64_t nanoseconds(std::chrono::steady_clock::time_point time);   // as Triton counts them

}  // namespace tenfold::triton
