// Element types as the v2 protocol names them ("FP32", "BYTES"), and as Triton's configurations do ("TYPE_FP32").
#pragma once

#include <optional>
#include <string_view>

#include "tenfold/tensor.h"

namespace tenfold::server {

std::string_view v2_name(DType type);            // empty: the protocol does not have it
std::optional<DType> dtype_of_v2(std::string_view name);
std::string_view configured_name(DType type);    // empty: likewise

}  // namespace tenfold::server
