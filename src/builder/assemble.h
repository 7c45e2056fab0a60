// Assembling: Graph + Choice -> the steps, buffers and constants of a plan.
#pragma once

#include "ir/op_def.h"
#include "plan/plan.h"
#include "tune/choice.h"

namespace tenfold::builder {

// The constants of a plan as they grow: equal bytes are stored once, also across programs.
class ConstantPool {
 public:
  // Index of a constant with these bytes. `fill` writes them when they are not there yet.
  std::int32_t add(const std::string& name, const void* data, std::int64_t bytes);
  void move_into(plan::Plan& plan);

 private:
  struct Chunk { std::shared_ptr<std::byte[]> data; std::int64_t bytes; };
  std::vector<plan::Constant> constants_;
  std::vector<Chunk> chunks_;
  std::map<std::pair<std::uint64_t, std::int64_t>, std::vector<std::int32_t>> by_hash_;
};

struct AssembleOptions {
  std::vector<plan::Range> box;            // of the input symbols, with the tuned point
  const backends::Backend* backend = nullptr;
};

// One program for one box. `graph` must be the one that `choice` was made for.
plan::Program assemble(const ir::Graph& graph, const tune::Choice& choice, ConstantPool& constants, const AssembleOptions& options,
                       std::uint32_t& needs);

}  // namespace tenfold::builder
