// What an ONNX file declares of its inputs, outputs and initializers. Nothing is inferred: shapes may be missing, and
// names of dimensions stand as the file has them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tenfold/export.h"
#include "tenfold/tensor.h"

namespace tenfold {

struct DeclaredValue {
  std::string name;
  std::string type;                  // "tensor(f32)", "seq(tensor(i64))", "optional(...)", "map(string,tensor(f32))"; empty: none
  bool ranked = false;               // whether there is a shape
  Shape shape = {};                  // -1: open
  std::vector<std::string> names = {};  // of each dim; empty: it has an extent, or no name
};

struct ModelArguments {
  std::vector<DeclaredValue> inputs;       // those that are no initializers
  std::vector<DeclaredValue> overridable;  // those that are initializers, too, which files have from IR version 4 on
  std::vector<DeclaredValue> outputs;
  std::vector<std::string> initializers;   // of the model's own graph
  std::vector<std::string> external;       // those of them whose data lie in other files
};

// Throw Error(io) for a path that cannot be read, and Error(invalid_model) for bytes that are no ONNX model.
TENFOLD_API ModelArguments model_arguments(const std::string& onnx_path);
TENFOLD_API ModelArguments model_arguments(std::span<const std::byte> onnx);

}  // namespace tenfold
