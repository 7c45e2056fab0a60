// DLPack's table of C functions, which types of arrays have from its version 1.3 on (torch 2.10): arrays read without a call of Python.
#pragma once

#include "native/arrays/arrays.h"

namespace tenfold::python {

struct Exchange;  // the table

// That of the array's own type; null: it has none. A subclass that inherits it may answer otherwise, and is read by DLPack.
const Exchange* exchange_of(nb::handle array);
// Reads the array as it lies, without waiting for anybody's work. The view keeps the array itself, which may be given other memory
// later. False, and no error: it is to be read otherwise, which tells why.
bool read_exchange(ArrayView& view, nb::handle array, const Exchange& exchange);
// The stream on which this library works now, a CUstream; 0 is the default one.
std::int64_t exchange_stream(const Exchange& exchange, int device);

}  // namespace tenfold::python
