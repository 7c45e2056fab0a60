// Tensors of torch by their attributes: torch's __dlpack__ is Python and takes ten microseconds and more, which a small run feels.
#pragma once

#include "native/arrays/arrays.h"

namespace tenfold::python {

// Whether `array` is a plain torch.Tensor (or Parameter) that lies dense or strided in the host's or a GPU's memory. Subclasses, which may
// answer anything, and other layouts are read by DLPack. False, too, while nobody has imported torch.
bool is_plain_tensor(nb::handle array);
// The device alone, of what is_plain_tensor().
void read_torch_device(ArrayView& view, nb::handle tensor);
// torch's current stream of that GPU, a CUstream: 0 is the default one.
std::int64_t torch_stream(int device);
// False: read it by DLPack, for its elements have a type that is not ours, or work on another stream is to be waited for. `stream`: as
// read_array() has it. The view keeps the tensor's storage.
bool read_torch(ArrayView& view, nb::handle tensor, std::int64_t stream);

}  // namespace tenfold::python
