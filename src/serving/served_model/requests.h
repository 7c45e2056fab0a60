// Requests that were looked at, and which of them run together.
#pragma once

#include "tenfold/serving/served_model.h"

namespace tenfold::served_model {

// A request whose inputs suit the model.
struct CheckedRequest {
  ServedRequest* request = nullptr;
  std::vector<const RequestInput*> inputs;       // by binding; null: it leaves the input to its default
  std::int64_t rows = 1;                         // in a batch
};

// Throws invalid_argument, which names the input, what was found and what is expected.
CheckedRequest check(ServedRequest& request, std::span<const BindingInfo> bindings, std::int64_t max_batch);

using Group = std::vector<CheckedRequest>;
// In the order of the requests: those in one group have the same inputs, of the same shapes but for the batch dim, and
// at most `max_batch` rows together.
std::vector<Group> grouped(std::vector<CheckedRequest> requests, std::int64_t max_batch);

}  // namespace tenfold::served_model
