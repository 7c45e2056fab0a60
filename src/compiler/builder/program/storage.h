// Storage: where each value of a graph lies relative to others. Decides which movements become views and which producers
// write straight into a part of something larger; the memory planner then sees only what needs a buffer of its own.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tune/choice/choice.h"

namespace tenfold::builder {

// A value that has no memory of its own: it lies inside `root` at an element offset, with these element strides.
struct View {
  const ir::Value* root = nullptr;
  ir::Dim offset = ir::Dim(0);
  ir::Dims strides;
  bool dense = true;                           // strides are those of a tensor of the value's own dims in `layout`
  backends::Layout layout = backends::kPlain;  // the value is read and written as this only
  backends::Layout root_layout = backends::kPlain;
};

class Storage {
 public:
  Storage(const ir::Graph& graph, const tune::Choice& choice, const ir::SymbolBounds& box, const backends::DeviceInfo& device);
  const View* view(const ir::Value* v) const;
  const ir::Value* output_of_root(const ir::Value* v) const {
    auto it = output_roots_.find(v);
    return it == output_roots_.end() ? nullptr : it->second;
  }
  // The layout in which a value is first stored.
  backends::Layout stored_layout(const ir::Value* v) const { return view(v) ? view(v)->layout : layout_of(v); }
  bool needs_step(const ir::Node& node) const { return !without_step_.count(&node); }
  bool needs_memory(const ir::Node& node) const { return !unread_.count(&node); }   // for its results

 private:
  void write_into_parent(const ir::Node& node);   // Concat and Transpose: producers write into slices of the result
  void read_as_view(const ir::Node& node);        // Reshape and kin, Transpose, Slice, Split: results are views of the operand
  void leave_out_unread(const ir::Node& node);
  bool accepted_by_users(const ir::Value* v, const View& view, const ir::Node* except) const;
  bool accepts(const ir::Node& node, const ir::Value* v, const View& view) const;
  using Proposal = std::unordered_map<const ir::Value*, View>;   // views that are asked about at once
  bool is_odd(const ir::Value* v, const Proposal& proposed) const;
  bool any_odd(const ir::Node& node, const Proposal& proposed) const;
  bool tactic_accepts(const ir::Node& node, const Proposal& proposed) const;
  backends::Layout layout_of(const ir::Value* v) const;
  View view_or_self(const ir::Value* v) const;
  void name_layout(View& v, const ir::Dims& dims, backends::Layout chosen) const;
  std::vector<View> derive(const ir::Node& node, const View& source) const;

  const tune::Choice& choice_;
  const ir::SymbolBounds& box_;
  const backends::DeviceInfo& device_;
  std::unordered_map<const ir::Value*, View> views_;
  std::unordered_set<const ir::Node*> without_step_, unread_;   // unread: of these, those whose results nothing reads
  std::unordered_set<const ir::Value*> outputs_;   // the graph's
  std::unordered_map<const ir::Value*, const ir::Value*> output_roots_;   // value -> the graph output whose memory it lives in
};

// The problem of a node with its chosen layouts and the strides its operands have; also what a step's tactic is opened for.
backends::Problem stored_problem(const ir::Node& node, const tune::NodeChoice& choice, const Storage& storage, const ir::SymbolBounds& box,
                                 const backends::DeviceInfo& device);

// Strides of `view` seen under new dims without moving an element, if there are any.
bool reshape_view(const ir::Dims& dims, const ir::Dims& strides, const ir::Dims& new_dims, ir::Dims& new_strides);

}  // namespace tenfold::builder
