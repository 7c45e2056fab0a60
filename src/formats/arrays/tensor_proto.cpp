// Reading .pb by the library's own reader of models.
#include "formats/arrays/tensor_proto.h"

#include <span>

#include "tenfold/error.h"
#include "tenfold/internal/tensor_proto.h"

namespace tenfold::formats {

Tensor parse_tensor_proto(std::string_view bytes, const std::string& what) {
  try {
    return read_tensor_proto(std::as_bytes(std::span(bytes)));
  } catch (Error& e) {   // a file of values that cannot be used is no fault of the model; memory that is short stays that
    if (e.kind() == ErrorKind::out_of_memory) throw e.within(what);
    throw Error(ErrorKind::io, what + ": " + e.what());
  }
}

}  // namespace tenfold::formats
