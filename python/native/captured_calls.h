// Calls on a stream that is being captured into a CUDA graph.
#pragma once

#include "call.h"

namespace tenfold::python {

// Whether a call on this stream becomes part of a graph.
bool is_captured(const StreamChoice& stream);
// Each has a runner of its own, which lives as long as the graph.
nb::object capture_call(SharedEngine& state, Call& call);
// Ends the runners of graphs that are gone: memory goes back behind a wait for the whole GPU, which would break a capture.
void end_freed_captures();

}  // namespace tenfold::python
