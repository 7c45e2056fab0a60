// Streams: which one a call is given, which one an array's maker works on, and those of `with tenfold.Stream`.
#pragma once

#include "native/arrays/arrays.h"

namespace tenfold::python {

// Streams as DLPack counts them: 1 is the default one. `none`: the context's own.
struct StreamChoice {
  bool given = false;
  std::int64_t number = 0;
  void* handle() const { return given ? reinterpret_cast<void*>(number == 0 ? 1 : number) : nullptr; }
  std::int64_t for_dlpack() const { return given ? as_dlpack(number) : kNoStream; }
};
// An int, a tenfold.Stream, torch's or CuPy's stream, or anything with __cuda_stream__; None: none.
StreamChoice stream_of(nb::handle stream);
StreamChoice current_stream(const ArrayView& array);  // that of the library that made it; none on the host
StreamChoice entered_stream();  // the innermost of this thread; none: it has entered no stream

}  // namespace tenfold::python
