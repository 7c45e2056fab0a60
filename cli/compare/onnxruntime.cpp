#include "compare/onnxruntime.h"

#include "python_verb.h"

namespace tenfold::cli {

void compare_to_runtime(const std::string& name, const Flags& flags, const Arguments& arguments) {
  if (name != "onnxruntime") throw UsageError("--to=" + name + ": expected onnxruntime");
  Arguments words;
  for (const auto& [flag, value] : flags.read(arguments, words)) words.push_back("--" + flag->name + (value.empty() ? "" : "=" + value));
  run_in_python("compare --to=onnxruntime", "tenfold.beside_onnxruntime", "tenfold onnx onnxruntime", words);
}

}  // namespace tenfold::cli
