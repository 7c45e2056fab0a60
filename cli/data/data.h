// Samples that a model is tried on (--data, --checkData): arrays, photographs, texts, or what a Python file gives.
#pragma once

#include "console.h"
#include "formats/samples/samples.h"

namespace tenfold::cli {

struct SampleSource {
  std::string flag = "data", path;
  std::optional<formats::ImageSpec> image;   // --image, if given
  std::vector<BindingInfo> inputs;           // of the model
  int max_samples = 0;                       // that will be asked for
  Console console;                           // hears what is used, and which photographs are left out
  std::string tokenizer = {};                // --tokenizer: tokenizer.json, for texts
};
// Throws as formats::open_samples() does, and UsageError for --image beside texts and Python files.
std::unique_ptr<formats::Samples> open_samples(SampleSource source);

// What NAME of a Python file gives ("FILE.py:NAME": an iterable, or a function), run once, in a process of its own. Throws Error(io) naming
// file and line.
formats::ArraySource arrays_of_python(const std::string& file_and_name);
// Lines of .txt, or a column of .csv or .tsv (FILE:COLUMN). Each text is a sample, or as many as the model's fixed batch; ids, masks and
// types go to input_ids, attention_mask and token_type_ids, cut and padded where the model fixes the number of tokens.
bool is_text(const std::string& path);
std::unique_ptr<formats::Samples> text_samples(const SampleSource& source);
// The texts of such a file that are not empty, at least one; lines, whatever its name is, if it is no table. `name`: of the flag.
std::vector<std::string> read_texts(const std::string& name, const std::string& path);

}  // namespace tenfold::cli
