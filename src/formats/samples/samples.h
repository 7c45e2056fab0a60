// Samples that a model is tried on: files of arrays, photographs, or folders of either.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/images/image_spec.h"
#include "tenfold/engine.h"
#include "tenfold/log.h"
#include "tenfold/quantize.h"

namespace tenfold::formats {

// Where a photograph stands: its number among the files in the order of their names, and its path.
struct ImageOrigin {
  std::size_t number = 0;
  std::string path;
};

class Samples {
 public:
  virtual ~Samples() = default;
  // Nothing: there are no more. One after the other is quick; an earlier one is looked for from the beginning. Throws Error(io) naming
  // file, array, shape or type, and what was expected.
  virtual std::optional<InputSet> at(int index) = 0;
  // The photographs of a sample; none of arrays.
  virtual std::vector<ImageOrigin> origins(int) const { return {}; }
};

struct SampleSource {
  std::string path;
  std::optional<ImageSpec> image = {};   // how photographs become the input; none: as the input says
  std::vector<BindingInfo> inputs;       // of the model; those with a default, and outputs, are passed over
  int max_samples = 0;                   // that will be asked for
  LogCallback log = {};                  // hears what is used, and which photographs are left out
  SourceNames names = {};
  std::string other_kinds = {};          // that the caller takes beside these, for the message on a path that is none: ", .txt"
};
// Throws Error(io) for a path that does not exist, a folder with neither, photographs of which too many are broken; Error(invalid_argument)
// for a specification of images beside arrays, and as resolve_image_spec() does.
std::unique_ptr<Samples> open_samples(SampleSource source);

// A piece of arrays: .npz by the names of inputs, or .npy of a model with one input. `what` names it in messages.
struct ArrayBytes {
  std::string what, bytes;
  bool alone = false;        // .npy
  bool one_sample = false;   // if arrays have the shape of the input, whose batch may be any
};
using ArraySource = std::function<std::optional<ArrayBytes>(std::size_t number)>;   // piece 0, 1 and so on; nothing: there are no more
// Arrays' first axis counts samples; a batch that the model fixes takes as many of them at a time. An array may also lack that axis (one
// sample), or have it before the batch. One piece is held at a time.
// `log` hears, once for each input, that elements of another type are converted to the model's.
std::unique_ptr<Samples> array_samples(ArraySource source, std::vector<BindingInfo> inputs, LogCallback log);
ArraySource arrays_in_files(std::vector<std::string> files);
std::unique_ptr<Samples> image_samples(std::vector<std::string> files, const SampleSource& source);

// Samples as one set, behind one another along the first axis, as open_samples() takes them. Throws Error(io), which begins with `what`,
// where they differ in shape.
InputSet join_samples(Samples& samples, int max_samples, const std::string& what);

}  // namespace tenfold::formats
