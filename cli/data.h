// Samples that a model is tried on (--data, --checkData): arrays, or photographs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "console.h"
#include "image_spec.h"
#include "tenfold/engine.h"
#include "tenfold/quantize.h"

namespace tenfold::cli {

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
  std::string flag = "data", path;
  std::optional<ImageSpec> image;   // --image, if given
  std::vector<BindingInfo> inputs;  // of the model
  int most = 0;                     // samples that will be asked for
  Console console;                  // hears what is used, and which photographs are left out
};
// Throws Error(io) for a path that does not exist, a folder with neither, photographs of which too many are broken; UsageError for --image
// beside arrays, and as settle_image_spec() does.
std::unique_ptr<Samples> open_samples(SampleSource source);

// Arrays' first axis counts samples; a batch that the model fixes takes as many of them at a time. An array may also lack that axis (one
// sample), or have it before the batch. Files are read one at a time.
std::unique_ptr<Samples> array_samples(std::vector<std::string> files, std::vector<BindingInfo> inputs);
std::unique_ptr<Samples> image_samples(std::vector<std::string> files, const SampleSource& source);

// Samples as one set, behind one another along the first axis, as --data takes them. Throws Error where they differ in shape.
InputSet joined_samples(Samples& samples, int most);

}  // namespace tenfold::cli
