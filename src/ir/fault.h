// Errors that no other shapes would mend: an attribute, an element type, a name. A branch of an If that contradicts the shapes is put
// off until it is taken; one with a fault is refused like any other part of a model.
#pragma once

#include "base/check.h"

namespace tenfold::ir {

class Fault : public Error {
 public:
  explicit Fault(const Error& error) : Error(error) {}
};

// `require` of an invalid_model for such a fault.
template <class... Args>
void require_sound(bool condition, const Args&... args) {
  if (!condition) [[unlikely]] throw Fault(Error(ErrorKind::invalid_model, cat(args...)));
}

}  // namespace tenfold::ir
