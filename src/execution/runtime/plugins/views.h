// Attributes, types and tensors of ours as a plug-in reads them: C structs that point into what is kept here.
#pragma once

#include <deque>
#include <optional>

#include "backends/tactic.h"
#include "ir/op_def.h"
#include "tenfold/plugin_abi.h"

namespace tenfold::runtime {

inline constexpr const char* kPluginVersion =
    "tenfold_plugin_version";  // travels with every node, and so with every step of a plan

// In the order of `names`, which leave out what is Tenfold's own. Keeps a copy of the attributes; neither copied nor moved.
class AttributeViews {
 public:
  AttributeViews(ir::Attributes attributes, const std::vector<std::string>& names);
  AttributeViews(const AttributeViews&) = delete;
  const tenfold_plugin_attribute* data() const { return views_.data(); }
  std::int32_t count() const { return static_cast<std::int32_t>(views_.size()); }

 private:
  const ir::Attributes attributes_;
  std::vector<tenfold_plugin_attribute> views_;
  std::deque<std::vector<const char*>> texts_;
  std::deque<tenfold_plugin_tensor> tensors_;
  std::deque<Shape> strides_;
};

struct PluginOperandType {
  DType dtype = DType::f32;
  ir::Dims dims = {};
  const ir::Dims* contents = nullptr;
  backends::Layout layout = {};
  bool missing = false, constant = false;
};

// The types of some operands; bounds are those of a box. Neither copied nor moved.
class TypeViews {
 public:
  TypeViews(const std::vector<PluginOperandType>& types, const ir::SymbolBounds& box);
  TypeViews(const TypeViews&) = delete;
  const tenfold_plugin_type* data() const { return views_.data(); }
  std::int32_t count() const { return static_cast<std::int32_t>(views_.size()); }

 private:
  const char* keep(ir::Dim dim);
  std::vector<tenfold_plugin_type> views_;
  std::deque<std::string> texts_;
  std::deque<std::vector<const char*>> lists_;
  std::deque<Shape> bounds_;
};

}  // namespace tenfold::runtime
