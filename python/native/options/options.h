// Keywords of build(), load() and their kin: one table for each, of the fields of BuildConfig and LoadOptions.
#pragma once

#include <memory>

#include "native/options/callbacks.h"
#include "tenfold/build.h"

namespace tenfold::python {

// Sets the fields that `keywords` names. An unknown name raises TypeError with the nearest one, a value of another type TypeError with
// what is wanted. `call` is the function's name in messages. Callbacks and the log are set in any case.
void read_options(const nb::dict& keywords, BuildConfig& config, const std::shared_ptr<Callbacks>& callbacks, const char* call);
void read_options(const nb::dict& keywords, LoadOptions& options, const std::shared_ptr<Callbacks>& callbacks, const char* call);

}  // namespace tenfold::python
