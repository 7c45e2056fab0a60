// Errors and log lines between Tenfold, which throws, and Triton's C API, which returns.
#pragma once

#include <string>

#include "tenfold/internal/as_error.h"
#include "tenfold/log.h"
#include "triton_api.h"

namespace tenfold::triton {

void log_line(TRITONSERVER_LogLevel level, const std::string& text) noexcept;
// A log for what belongs to `who` ("model 'mlp'"). Verbose lines are made only where Triton wants them.
LogCallback log_of(std::string who);

// Whether a call failed; its error is logged and let go.
bool failed(TRITONSERVER_Error* error) noexcept;
// Throws what a call returned.
void must(TRITONSERVER_Error* error);
TRITONSERVER_Error* to_triton(const Error& error) noexcept;

// What `act` throws, as Triton takes it.
template <class Act>
TRITONSERVER_Error* guarded(Act&& act) noexcept {
  try {
    as_error(std::forward<Act>(act));
    return nullptr;
  } catch (const Error& error) {
    return to_triton(error);
  }
}

}  // namespace tenfold::triton
