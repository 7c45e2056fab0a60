// Sizes of a loop's iterations: extents of carried values that change, and all in its body that follows from sizes found in the run.
#pragma once

#include <memory>
#include <vector>

#include "ir/dim_code.h"
#include "plan/loop_form.h"

namespace tenfold::runtime {

struct OpenTop;

struct LoopSizes {
  // Extent `dim` of carried value `carried` is a symbol of the loop's own, which has another value in each iteration.
  struct Extent {
    std::int32_t symbol;
    std::size_t carried, dim;
  };
  std::vector<Extent> extents;
  std::vector<char> changes;                  // by carried value
  plan::LoopPlaces places;                    // by carried value
  std::vector<char> counted, grows;           // by stack: its length is a size that the loop defines; so is its memory
  // What is computed anew in each iteration, so that a long program around a small body costs nothing there.
  std::vector<plan::DimIndex> dims;
  ir::DimCode code;                           // of these
  std::vector<std::size_t> grown;             // growing buffers of the body
};

// `top`: its symbols and which of them steps define are known. `grows`: whether a result of the step gets its memory in the run.
LoopSizes loop_sizes(const OpenTop& top, const plan::Program& program, const plan::Step& loop, const std::vector<char>& grows);

}  // namespace tenfold::runtime
