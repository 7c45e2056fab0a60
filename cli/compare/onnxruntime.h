// tenfold compare MODEL --to=onnxruntime.
#pragma once

#include <string>

#include "flags/flags.h"
#include "verbs.h"

namespace tenfold::cli {

// The Python package (tenfold.beside_onnxruntime) takes this process's place, with the flags that were given.
[[noreturn]] void compare_to_runtime(const std::string& name, const Flags& flags, const Arguments& arguments);

}  // namespace tenfold::cli
