// Values that are no arrays of numbers: arrays of str, lists, dicts and None, there and back; calls of engines that take or give them.
#pragma once

#include "native/call/call.h"
#include "tenfold/value.h"

namespace tenfold::python {

// An array, a str or a list of them where strings are wanted; a list or tuple as a sequence, a dict as a map, None as nothing. Numbers of
// Python become `dtype`. `what` names it in refusals.
RuntimeValue value_of(nb::handle object, const Slot& slot);
// A tensor as NumPy's array, of strings with dtype object; a scalar in a map as Python's number or str, as ONNX Runtime gives them.
nb::object object_of(const RuntimeValue& value);

nb::object run_on_values(SharedEngine& state, Call& call);

}  // namespace tenfold::python
