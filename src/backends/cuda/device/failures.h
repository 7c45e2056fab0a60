// What the driver answered last, for each GPU of this process: kept as numbers, so that a run which fails allocates nothing.
#pragma once

#include <optional>
#include <string>

#include "tenfold/device_error.h"

namespace tenfold::backends::cuda {

// The GPU that this thread works for: Device::make_current() says so. Failures are noted as its.
void working_for(int ordinal) noexcept;
// From now on every GPU is lost in a fork of this process: CUDA, once it has started, works in none, and does not always say so.
void watch_forks();
// `call`: the driver's function, a literal. Of what an error inside a kernel answers for ever the first call is kept.
void note_failure(int result, const char* call) noexcept;
std::optional<DeviceError> last_failure(int ordinal);
bool is_lost(int ordinal) noexcept;
int lost_by(int ordinal) noexcept;   // the number of the error that took the GPU from this process; 0: none did
std::string why_lost(int ordinal);   // in words, where it is
void expect_usable(int ordinal);     // throws device, with that error, if it is lost
// Versions of the libraries on this machine, for last_failure().
void name_libraries(int ordinal, const std::string& libraries);

// Notes what is no success, and throws device, or out_of_memory, with what was being done and all that last_failure() has.
void expect(int result, const char* call, const char* doing);
// The same in words without a throw, cut to fit.
void describe(int result, const char* call, char* text, std::size_t bytes) noexcept;

// Throws device where a driver or GPU is too old, with what was found and what is needed.
void expect_driver(int version);                                       // as the driver counts: 11080 is 11.8
void expect_capability(const char* name, int major, int minor);

// The driver's names of its errors: it has them since CUDA 6, but they are no part of a fake one unless its test says so.
using ErrorName = int (*)(int result, const char** text);
ErrorName use_error_names(ErrorName names) noexcept;   // gives back what was used before

}  // namespace tenfold::backends::cuda
