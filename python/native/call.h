// One call of an engine: arrays in, arrays out.
#pragma once

#include "runner.h"

namespace tenfold::python {

// `inputs`: one for each input, null where its default is to be taken. `outputs`: one for each output, null where a new array is to be
// made; filled. `wanted`: what is not wanted is not made (null: all are).
void call_engine(EngineState& state, std::span<PyObject* const> inputs, std::span<nb::object> outputs, const bool* wanted,
                 nb::handle stream);

// engine(x), engine(x, mask), engine({"x": x}), with out= and stream=.
nb::object call_with(EngineState& state, nb::args args, nb::kwargs keywords);
// The outputs of these names (None: all) as a list, for inputs by name: Session.run().
nb::object run_feed(EngineState& state, nb::object names, nb::dict feed);

}  // namespace tenfold::python
