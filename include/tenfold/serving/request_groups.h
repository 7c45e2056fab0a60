// Which requests run together: for those who implement ServedModel.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tenfold/engine.h"
#include "tenfold/serving/served_request.h"

namespace tenfold {

// A request whose inputs suit the model.
struct CheckedRequest {
  ServedRequest* request = nullptr;
  std::vector<const RequestInput*> inputs;       // by binding; null: it leaves the input to its default
  std::int64_t rows = 1;                         // in a batch
};
// Requests of one run: they have the same inputs, of the same shapes but for the batch dim.
using RequestGroup = std::vector<CheckedRequest>;

// Compares requests with the bindings, puts those into groups that fit, up to `max_batch` rows each (0: each request is a
// group), and calls `run` for each group. What `run` throws ends the requests of the group, which `run` must not have
// finished then. Where one of several may be the cause, each is run again by itself first. Every request is finished when this
// returns.
TENFOLD_API void run_in_groups(std::span<ServedRequest* const> requests, std::span<const BindingInfo> bindings, std::int64_t max_batch,
                               const std::function<BatchRun(const RequestGroup&)>& run, std::vector<BatchRun>* runs) noexcept;

}  // namespace tenfold
