// Errors of this library.
#pragma once

#include <string>
#include <utility>

#include "tenfold/error.h"

namespace tenfold::tokenizing {

[[noreturn]] inline void fail(ErrorKind kind, std::string message) { throw Error(kind, std::move(message)); }

}  // namespace tenfold::tokenizing
