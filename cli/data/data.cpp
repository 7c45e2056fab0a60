// Samples by the flags that name them.
#include "data/data.h"

#include "flags/flags.h"

namespace tenfold::cli {
namespace {

constexpr std::string_view kPython = "python:";

}  // namespace

std::unique_ptr<formats::Samples> open_samples(SampleSource source) {
  std::erase_if(source.inputs, [](const BindingInfo& b) { return !b.is_input || b.has_default; });
  if (source.path.starts_with(kPython)) {
    if (source.image) throw UsageError("--image is for photographs, and '" + source.path + "' gives arrays");
    return formats::array_samples(arrays_of_python(source.path.substr(kPython.size())), std::move(source.inputs),
                                  source.console.callback());
  }
  if (is_text(source.path)) {
    if (source.image) throw UsageError("--image is for photographs, and '" + source.path + "' is text");
    return text_samples(source);
  }
  return formats::open_samples({.path = source.path,
                                .image = source.image,
                                .inputs = std::move(source.inputs),
                                .max_samples = source.max_samples,
                                .log = source.console.callback(),
                                .names = {.data = "--" + source.flag, .image = "--image"},
                                .other_kinds = ", .txt, .csv:COLUMN or python:FILE.py:NAME"});
}

}  // namespace tenfold::cli
