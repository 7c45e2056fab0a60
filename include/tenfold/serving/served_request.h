// ServedRequest: one request to a served model, whatever protocol it came by. A server implements it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenfold/error.h"
#include "tenfold/export.h"
#include "tenfold/run_options.h"
#include "tenfold/tensor.h"

namespace tenfold {

// One input of a request, in the host's memory, dense and row major.
struct RequestInput {
  std::string_view name;
  DType dtype = DType::f32;
  std::span<const std::int64_t> shape;
  std::span<const std::span<const std::byte>> pieces;   // the elements, in as many pieces as they arrived in
  const std::vector<std::string>* strings = nullptr;    // of DType::string, in place of pieces
};

// A run of the model that requests shared. Inputs are copied from `start` on, outputs until `end`.
struct BatchRun {
  int requests = 0;
  std::int64_t rows = 0;                                // along the batch dim; of a model without one: 1
  std::chrono::steady_clock::time_point start, compute_start, compute_end, end;
};

// What ended a request: its run, or a queue in which it waited for one.
enum class EndedBy : std::uint8_t { run, full_queue, timeout, cancel, stop };

// How a request ended: with all outputs that it requested, or with an error.
struct RequestOutcome {
  const Error* error = nullptr;                         // null: it has its outputs. ErrorKind::cancelled: nobody waits for it
  const BatchRun* run = nullptr;                        // null: it ended before a run
  EndedBy ended_by = EndedBy::run;
};

struct TextWork;                                        // served_encoder.h

// All functions are called in the thread that calls ServedInstance::run(), and never after finish().
class TENFOLD_API ServedRequest {
 public:
  virtual ~ServedRequest();
  virtual std::span<const RequestInput> inputs() const = 0;   // their memory stays until finish()
  virtual bool cancelled() const { return false; }            // nobody waits for the answer any more: it is not run
  // Tripped when nobody waits for the answer any more. It stops the run of a request that is alone in its batch between two steps.
  virtual CancelToken cancel_token() const { return {}; }
  virtual bool requests_output(int) const { return true; }    // whether it wants the output, an index among bindings
  // What it takes of a batch's QueueOptions::max_tokens: tokens of its texts. Requests with tokens share a batch whatever their shapes.
  virtual std::int64_t tokens() const { return 0; }
  // Of encoders: texts as ids, which are taken in place of the inputs; null: the inputs have them. It stays until finish().
  virtual const TextWork* text_work() const { return nullptr; }
  // Gives memory of the host for `bytes` of an output, which are written before finish(). It is called once for an
  // output, at most. An Error that it throws ends this request alone.
  virtual void* output_memory(int output, std::span<const std::int64_t> shape, std::int64_t bytes) = 0;
  // Takes an output of strings.
  virtual void take_strings(int output, std::span<const std::int64_t> shape, std::span<const std::string> values) = 0;
  virtual void finish(const RequestOutcome& outcome) noexcept = 0;   // once for each request
};

}  // namespace tenfold
