// Samples that a model is tried on (--data, --checkData): arrays, photographs, or texts.
#pragma once

#include <cstdint>
#include <functional>
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
  std::string tokenizer = {};       // --tokenizer: tokenizer.json, for texts
};
// Throws Error(io) for a path that does not exist, a folder with neither, photographs of which too many are broken; UsageError for --image
// beside arrays, and as resolve_image_spec() does.
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
// The console hears, once for each input, that elements of another type are converted to the model's.
std::unique_ptr<Samples> array_samples(ArraySource source, std::vector<BindingInfo> inputs, Console console);
ArraySource arrays_in_files(std::vector<std::string> files);
// What NAME of a Python file gives ("FILE.py:NAME": an iterable, or a function), run once, in a process of its own. Throws Error(io) naming
// file and line.
ArraySource arrays_of_python(const std::string& file_and_name);
// Lines of .txt, or a column of .csv or .tsv (FILE:COLUMN). Each text is a sample, or as many as the model's fixed batch; ids, masks and
// types go to input_ids, attention_mask and token_type_ids, cut and padded where the model fixes the number of tokens.
bool is_text(const std::string& path);
std::unique_ptr<Samples> text_samples(const SampleSource& source);
std::unique_ptr<Samples> image_samples(std::vector<std::string> files, const SampleSource& source);

// Samples as one set, behind one another along the first axis, as --data takes them. Throws Error where they differ in shape.
InputSet joined_samples(Samples& samples, int most);

}  // namespace tenfold::cli
