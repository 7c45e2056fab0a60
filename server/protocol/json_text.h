// Writing JSON as text: strings that are escaped, numbers without loss.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "observe/json_string.h"
#include "tenfold/tensor.h"

namespace tenfold::server {

std::string json_shape(const Shape& shape);
// {"error":"..."}
std::string json_error(std::string_view message);

// Elements of a tensor, separated by commas. Throws RequestError, which names the tensor, for a value that JSON cannot hold: NaN,
// infinity, bytes that are not UTF-8, 16-bit floats.
void append_elements(std::string& out, DType dtype, const std::byte* data, std::int64_t count, std::string_view tensor);
void append_elements(std::string& out, const std::vector<std::string>& strings, std::string_view tensor);

}  // namespace tenfold::server
