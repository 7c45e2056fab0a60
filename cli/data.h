// Samples that a model is tried on (--data): .npz by input name, .npy for a model of one input, or a folder of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tenfold/engine.h"
#include "tenfold/quantize.h"

namespace tenfold::cli {

// Arrays' first axis counts samples; a batch that the model fixes takes as many of them at a time. An array may also lack that axis (one
// sample), or have it before the batch. A folder's files are read in the order of their names, one at a time.
class Samples {
 public:
  // Throws Error(io): a path that does not exist, a folder without such files.
  Samples(const std::string& path, std::vector<BindingInfo> inputs);
  // Nothing: there are no more. One after the other is quick; an earlier one is looked for from the beginning. Throws Error(io) naming
  // file, array, shape or type, and what was expected.
  std::optional<InputSet> at(int index);

 private:
  struct File;
  std::shared_ptr<const File> read(const std::string& path) const;
  std::vector<BindingInfo> inputs_;
  std::vector<std::string> files_;
  std::size_t reached_ = 0;            // of files_: the one after file_
  std::shared_ptr<const File> file_;   // null: none is read yet
  std::int64_t first_ = 0;             // the number of file_'s first sample
};

}  // namespace tenfold::cli
