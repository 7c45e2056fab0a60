// Operators that models name and Tenfold does not compute, with the reason.
#pragma once

#include <string>
#include <string_view>

namespace tenfold::onnx_import {

// Why, and what to do; "" where nothing is known of the name.
std::string why_refused(std::string_view domain, std::string_view op);

}  // namespace tenfold::onnx_import
