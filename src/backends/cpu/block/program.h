// The block executor's program: steps over values that live in the caller's memory, in scratch slots, or in a pool of constants.
#pragma once

#include <vector>

#include "backends/cpu/block/executor.h"
#include "backends/cpu/block/lower.h"

namespace tenfold::backends::cpu {

struct BlockStep {
  PointwiseKernel kernel = nullptr;  // null: a reduction
  PointwiseReduce reduce = nullptr;
  std::uint16_t in[3] = {}, out = 0;  // value numbers: inputs, then items
  std::uint8_t arity = 0;
};

// What is known of a value when the program is made.
struct BlockValue {
  std::int64_t slot = -1;     // byte offset of its scratch slot; inputs: where strided columns are gathered to
  std::int64_t pool = -1;     // byte offset in the pool, constants only
  std::uint32_t support = 0;  // the inputs it varies with (bit i: input i); what reductions remove is left out
  std::uint8_t bytes = 4;
  std::int8_t direct_output = -1;  // may be computed straight into this output
};

struct BlockExecutor::Program {
  std::vector<BlockValue> values;
  std::vector<BlockStep> steps;                    // in order, constants left out
  std::vector<std::vector<std::uint16_t>> phases;  // steps of each pass over a row longer than a block; the last one writes
  std::vector<std::uint64_t> pool;
  std::vector<std::uint16_t> outputs;  // value numbers
  std::vector<std::uint8_t> output_bytes;
  PointwiseTables tables{};
  std::int64_t block = 512;  // elements
  std::int64_t slots_bytes = 0;
  int inputs = 0;
  bool reduces = false;

  static Program make(const Lowered& lowered, const PointwiseTables& tables);
};

}  // namespace tenfold::backends::cpu
