// Shapes in messages.
#pragma once

#include <string>

#include "tenfold/tensor.h"

namespace tenfold::formats {

// "[1,?,3]", where an extent below 0 is any.
inline std::string shape_text(const Shape& shape) {
  std::string text;
  for (const std::int64_t d : shape) text += (text.empty() ? "" : ",") + (d < 0 ? std::string("?") : std::to_string(d));
  return "[" + text + "]";
}

}  // namespace tenfold::formats
