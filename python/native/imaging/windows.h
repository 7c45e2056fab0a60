// Sliding windows as Python has them, for the files of this room.
#pragma once

#include <memory>
#include <vector>

#include "native/arrays/arrays.h"
#include "tenfold/sliding_window.h"

namespace tenfold::python {

struct PyStitchOptions {
  const std::string& activation;
  const std::string& reduce;
  double threshold;
  int threads;
  nb::handle grid;            // None, or extents
  nb::handle interpolation;   // a name, or one for each axis
};
StitchOptions stitch_options(const PyStitchOptions& given);
// A writable array of NumPy with a tensor's elements, which it keeps.
nb::object own_array(const Tensor& tensor);
nb::list own_arrays(const std::vector<Tensor>& tensors);
// A sequence of arrays, or one alone. `what` names them in refusals ("output").
std::vector<Tensor> tensors_of(nb::handle arrays, const std::string& what);

// Memory of outputs: new, or the caller's arrays, which are filled in place.
class ArraySinks {
 public:
  explicit ArraySinks(nb::handle out);   // None, an array, or a sequence of them
  std::shared_ptr<ImageSink> make(std::size_t output);   // needs no lock
  nb::list arrays() const;               // of all outputs
 private:
  std::vector<nb::object> given_;
  std::vector<ArrayView> views_;
  std::vector<std::shared_ptr<Tensor>> made_;
};

void bind_windows(nb::module_& m);
void bind_sweep(nb::module_& m);

}  // namespace tenfold::python
