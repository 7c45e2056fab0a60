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
  // The same for a weight packed by a tactic; remembers what it came from.
  std::int32_t add_packed(const std::string& name, const Tensor& original, const Tensor& packed);
  // Where a tensor is stored: index and whether packed; -1 if no step reads it.
  struct Place { std::int32_t index = -1; bool packed = false; };
  Place find(const Tensor& tensor) const;
  void move_into(plan::Plan& plan);

 private:
  std::int32_t find(const void* data, std::int64_t bytes, std::uint64_t hash) const;
  struct Chunk { std::shared_ptr<std::byte[]> data; std::int64_t bytes; };
  std::vector<plan::Constant> constants_;
  std::vector<Chunk> chunks_;
  std::map<std::pair<std::uint64_t, std::int64_t>, std::vector<std::int32_t>> by_hash_;
  std::map<std::pair<std::uint64_t, std::int64_t>, std::int32_t> packed_;   // the original's hash and bytes -> constant
};

struct AssembleOptions {
  std::vector<plan::Range> box;            // of the input symbols, with the tuned point
  const backends::Backend* backend = nullptr;
};

// The ranges of a graph's symbols and of those that only its bodies know.
ir::SymbolBounds all_bounds(const ir::Graph& graph);

// One program for one box. `graph` must be the one that `choice` was made for.
plan::Program assemble(const ir::Graph& graph, const tune::Choice& choice, ConstantPool& constants, const AssembleOptions& options,
                       std::uint32_t& needs);

}  // namespace tenfold::builder
