// Vectors as responses have them: cut, normalized, in smaller types, as numbers or in base64.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "text_requests/json_request.h"

namespace tenfold::server {

// int8: scaled so that the largest element is 127 or -127, which keeps cosines. binary: a bit for each element, 1 where it is above 0, the
// first in the highest bit of the first byte.
enum class VectorType : std::uint8_t { float32, float16, int8, binary };

struct VectorForm {
  VectorType type = VectorType::float32;
  bool base64 = false;                           // bytes, little endian; false: a list of numbers
  std::int64_t dimensions = 0;                   // the first so many elements; 0: all
  bool normalize = true;                         // to length 1, after they are cut
};
// From `encoding_format` and `embed_dtype`. Throws TextError.
VectorForm read_vector_form(const JsonRequest& request);

void cut_and_normalize(std::vector<float>& vector, const VectorForm& form);
// A vector that was cut and normalized, as JSON. Throws TextError(backend) for one that is not finite.
void append_vector(std::string& out, std::span<const float> vector, const VectorForm& form);
void append_float(std::string& out, float value);   // both throw, too
void append_floats(std::string& out, std::span<const float> values);   // as a list

}  // namespace tenfold::server
