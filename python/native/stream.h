// Streams of `with tenfold.Stream`.
#pragma once

#include "bound_context.h"

namespace tenfold::python {

StreamChoice entered_stream();  // the innermost of this thread; none: it has entered no stream

}  // namespace tenfold::python
