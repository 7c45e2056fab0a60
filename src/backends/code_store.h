// CodeStore: the machine code of a backend whose tactics are compiled when they are opened.
#pragma once

#include "backends/code.h"

namespace tenfold::backends {

// Thread safe.
class CodeStore {
 public:
  virtual ~CodeStore() = default;
  virtual void take(const CodeList& list, bool of_any_compiler) = 0;   // to be used instead; or only what the compiler here would make
  virtual CodeList used() const = 0;                                   // all that was used so far
};

}  // namespace tenfold::backends
