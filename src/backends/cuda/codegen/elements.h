// The kernel that computes a Body element by element over an index space, several elements a thread: regions and movements alike.
#pragma once

#include <string>

#include "backends/cuda/codegen/index_space.h"

namespace tenfold::backends::cuda {

struct ElementsProblem {
  ir::Body body;
  ir::Dims dims;                            // of the space; outputs have them
  std::vector<const OperandDesc*> in, out;  // body inputs and outputs
  const ir::SymbolBounds* box = nullptr;
};

struct ElementsKernel {
  std::string source;  // exports `vectors` and, if width > 1, `singles`
  int width = 1;       // elements a thread of `vectors` computes
  IndexSpace space;
  int inputs = 0, outputs = 0;
};
inline constexpr int kElementsThreads = 256;
inline constexpr int kMaxElementsOperands = 40;

Verdict can_generate(const ElementsProblem& p);
ElementsKernel generate_elements(const ElementsProblem& p);

}  // namespace tenfold::backends::cuda
