// Values for an engine's inputs: from files, or random.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "console.h"
#include "formats/arrays/npy.h"
#include "tenfold/engine.h"
#include "tenfold/optimization_profile.h"
#include "tenfold/quantize.h"

namespace tenfold::cli {

// Files named by --loadInputs. What says its type and shape is read at once; of raw bytes, whose type and shape the engine has, as many as
// an input needs.
class InputFiles {
 public:
  explicit InputFiles(const std::map<std::string, std::string>& files);  // by input name, "": an .npz of all; throws Error(io)
  // Names, element types and ranks against the inputs of a model or engine, before anything else is done with them: arrays become tensors
  // of the inputs' types, with axes of length 1 in front where they have fewer, and the console hears of it. Throws Error.
  void fit(const std::vector<BindingInfo>& bindings, const Console& console);
  // Before a build: shapes against the model's, and against the ranges of profiles, of which one has to cover them. Throws Error(io).
  void expect_shapes(const std::vector<BindingInfo>& bindings, const std::vector<OptimizationProfile>& profiles) const;
  std::map<std::string, Shape> known_shapes() const;                     // of inputs whose file says its shape
  std::map<std::string, Tensor> known_tensors() const;                   // of inputs whose file says its shape and type
  const std::map<std::string, std::string>& paths() const { return paths_; }   // by input
  bool has(const std::string& input) const { return paths_.count(input) > 0; }
  Tensor tensor(const BindingInfo& info, const Shape& shape) const;  // checked against the type and the shape wanted

 private:
  void expect_type(const BindingInfo& info, const Tensor& tensor) const;
  Tensor raw_tensor(const BindingInfo& info, const Shape& shape) const;
  void name_the_file(const std::vector<BindingInfo>& bindings);
  std::map<std::string, std::string> paths_;   // "": of the only input, until fit()
  struct Array {  // of .npy and .npz
    formats::NpyArray array;
    std::string what;
  };
  std::map<std::string, std::shared_ptr<const std::string>> bytes_;   // of the others
  std::map<std::string, Array> arrays_;                               // as the files have them, until fit()
  std::map<std::string, Tensor> tensors_;                             // of .pb, and of all after fit()
  mutable std::map<std::string, Tensor> raw_;                          // read so far: a pipe gives its bytes once
};

// Floats in [-1, 1], small non-negative integers; integers of an input named like a mask are ones. The same for the same name.
Tensor random_input(const BindingInfo& info, const Shape& shape);

// What has the name "" gets that of the only input. `flag` names it where there are several, or none. Throws UsageError.
std::map<std::string, Shape> with_names(std::map<std::string, Shape> shapes, const std::string& flag,
                                        const std::vector<BindingInfo>& bindings);
// The shape of each input for a run: --shapes, else what its file says, else the profile's opt, with the sizes that the others settle.
std::vector<Shape> run_shapes(const Engine& engine, int profile, const std::map<std::string, Shape>& given, const InputFiles& files);
// Whether make_inputs() can fill this input from a sample.
bool gives(const InputSet& sample, const BindingInfo& info);
// An input's values: its file's, or those that --shapes gives a shape tensor (`given`), or `sample`'s, repeated or cut along each axis, or
// random ones. Undefined: an input has its default.
std::vector<Tensor> make_inputs(const Engine& engine, const std::vector<Shape>& shapes, const InputFiles& files,
                                const std::map<std::string, Shape>& given, const InputSet& sample = {});

}  // namespace tenfold::cli
