// ProgramBuilder: turns the nodes of one graph into steps. Nested programs share the top program's dims table.
#pragma once

#include <unordered_map>

#include "builder/program/assemble.h"
#include "builder/program/storage.h"

namespace tenfold::builder {

// The dims table and the symbols of a top-level program, shared by its nested programs while they are built.
struct DimTable {
  std::vector<ir::Dim> dims;
  std::map<std::string, plan::DimIndex> index;
  std::vector<ir::Symbol> symbols;         // of inputs first, then as steps define them
  std::vector<plan::DimIndex> grown;       // bytes of buffers that are allocated in the run
  plan::DimIndex add(ir::Dim d);
  std::vector<plan::DimIndex> add(const ir::Dims& list);
  std::int32_t symbol(const std::string& name) const;   // -1 if not known yet
  bool is_input_symbol(const std::string& name) const;
  bool knows(const ir::Dims& dims) const;   // all their symbols
};

// One stretch of arena memory: a value's root, a reformatted copy, or a workspace.
struct Buffer {
  ir::Dim bytes;
  std::int64_t upper = 0;                  // of bytes, over the box
  std::int32_t first = -1, last = -1;      // steps
  std::int32_t merged_into = -1;           // in place: shares that buffer's memory
};

class ProgramBuilder {
 public:
  ProgramBuilder(const ir::Graph& graph, const tune::Choice& choice, ConstantPool& constants, DimTable& table, const ir::SymbolBounds& box,
                 const AssembleOptions& options, std::uint32_t& needs);
  plan::Program build();

 private:
  // Where a value lies in one layout.
  struct Stored {
    plan::Address at;                      // arena addresses hold the buffer number in `index` until placed
    backends::Layout layout;
    bool dense = true;
    ir::Dims strides;
  };
  using Key = std::pair<const ir::Value*, backends::Layout>;

  // What the node's kernel is to compute, with operands as they lie.
  const backends::Problem& problem_of(const ir::Node& node, const tune::NodeChoice& choice);
  void pack_weights();
  void bind_formals(plan::Program& program);
  bool stands_first(const ir::Node& node) const;
  bool stays_early(const ir::Node& node) const;
  void add_nodes();
  void add_node(const ir::Node& node);
  void add_kernel(const ir::Node& node, const tune::NodeChoice& choice);
  void add_host(const ir::Node& node);
  void add_branch(const ir::Node& node);
  void add_loop(const ir::Node& node);
  void add_bodies(const ir::Node& node, plan::Step& step);
  void add_plain_operands(const ir::Node& node, plan::Step& step);   // all of them in row-major order
  // Can its bodies be programs? Not if they hold sequences or strings, or sizes that are known too late.
  bool fits_program(const ir::Node& node) const;
  void add_copy_to_output(std::size_t output);
  void define_symbols(const ir::Node& node, plan::Step& step);

  // What lies in no memory (program_objects.cpp): an entry of a table, made at first use.
  plan::Operand object(const ir::Value* v);
  plan::Operand bound_object(const ir::Value* v, std::size_t binding);
  void add_object_to_output(const ir::Value* v, std::int32_t binding);
  const Stored& store_result(const ir::Value* v, backends::Layout layout);
  std::int32_t binding_for(const ir::Value* v) const;   // of the output in whose memory it is stored; -1: in none
  plan::Operand operand(const ir::Value* v, const Stored& stored);
  plan::Operand read(const ir::Value* v, backends::Layout layout, bool allow_strided);
  plan::Operand constant(const ir::Value* v, backends::Layout layout);
  plan::Operand packed(const ir::Value* v, std::int32_t index);
  const Stored& reformatted(const ir::Value* v, const Stored& from, backends::Layout layout);
  std::int32_t new_buffer(ir::Dim bytes);
  bool must_grow(ir::Dim bytes) const;
  plan::Address new_place(ir::Dim bytes);
  plan::Address new_place(const ir::Value* v, backends::Layout layout);
  plan::Address new_growing_place(const ir::Value* v);   // whatever its bound is
  void touch(const plan::Operand& o);
  void push(plan::Step step);
  void merge_in_place(const plan::Step& step, const backends::Problem& problem, const backends::Tactic& tactic);
  std::int32_t resolve(std::int32_t buffer) const;
  void place(plan::Program& program);

  const ir::Graph& graph_;
  const tune::Choice& choice_;
  ConstantPool& constants_;
  DimTable& table_;
  const ir::SymbolBounds& box_;
  backends::Backend& backend_;
  std::uint32_t& needs_;
  bool is_body_;
  std::set<const ir::Node*> early_;        // that run before the newest row is there
  std::size_t precomputed_steps_ = 0;
  std::set<const ir::Value*> late_;        // outputs of a body whose sizes only its steps find
  Storage storage_;
  std::unordered_map<const ir::Node*, backends::Problem> problems_;
  std::map<std::pair<const ir::Node*, int>, std::int32_t> packed_;   // operand -> constant; only ever looked up
  std::map<Key, Stored> stored_;           // of each value plain order first; in what order values stand says nothing
  std::map<const ir::Value*, std::size_t> output_index_;
  std::map<const ir::Value*, std::int32_t> object_index_;   // only ever looked up
  std::vector<ir::ValueType> objects_;     // Program::objects
  std::vector<Buffer> buffers_;
  std::vector<plan::Step> steps_;
  std::vector<std::pair<std::size_t, std::int32_t>> workspaces_;   // step -> buffer
  std::vector<std::pair<std::size_t, std::vector<std::int32_t>>> in_place_;   // step -> operands whose memory its result may take
};

}  // namespace tenfold::builder
