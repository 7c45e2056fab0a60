// What models may write: the files of this folder, and the operators of a registry under their own names.
#pragma once

#include <optional>
#include <string_view>

#include "onnx_ops/onnx_node.h"
#include "onnx_ops/onnx_op.h"

namespace tenfold::onnx_ops {

struct FormMatch {
  OnnxForm form;
  const OpDef* def = nullptr;   // the graph's operator, where the form is that
  bool any_domain = false;      // a plug-in's, for every domain that has no operator of the name
};
// The form of an operator at an opset: the one with the largest `since` not above it; the registry's before a file's of the same `since`.
// "" is the domain ai.onnx.
std::optional<FormMatch> find(const Registry& registry, std::string_view domain, std::string_view name, int opset);

// Throws a fault for an attribute that the form does not have. A conversion judges its own.
void check_attributes(const FormMatch& match, const Attributes& attributes);
// Adds the nodes that the node means, and returns its results; null: one that is not computed.
std::vector<Value*> convert(OnnxImport& node, const FormMatch& match);

// Every name that models may write, once, with its first opset; by domain and name.
struct Known {
  std::string domain, name;
  int since;
  std::string types, attributes;   // of the graph's operator, where the newest form is that (ir/op_types.h, ir/attribute_types.h)
};
std::vector<Known> known(const Registry& registry);

const std::vector<OnnxOp>& builtin();   // the files' alone, by domain and name
OnnxOp in_folder(const char* folder, OnnxOp op);   // for the table that the build writes: `op` in the folder's domain

}  // namespace tenfold::onnx_ops
