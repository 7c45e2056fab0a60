// Whether a model may import a newer version of ai.onnx with its nodes as they are.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "ir/op_def.h"
#include "onnx_export/edits.h"
#include "onnx_import/messages.h"

namespace tenfold::onnx_export {

namespace onnx = onnx_import::onnx;

int onnx_opset(const onnx::ModelProto& model);   // the version of ai.onnx that the model imports

using NodeSet = std::set<const onnx::NodeProto*>;   // of a model

// Nodes that mean something else at that version, or nothing at all, those in bodies and functions too: "node 's' (Squeeze)". The tables of
// ONNX operators tell: a node may stay where both versions have one form of it, or where the forms differ in what it does not use. Nodes
// that write_raised() changes are in nobody's way, nor are those that are `written` otherwise.
std::vector<std::string> nodes_in_the_way(const onnx::ModelProto& model, int opset, const ir::Registry& registry,
                                          const NodeSet& written = {});

// Nodes of the model's own graph and of its bodies that mean the same in another form at that version are written in it: the axes of a
// reduction, Squeeze or Unsqueeze become an operand, Split names the number of its outputs, GridSample's modes have other names, and
// Dropout's ratio, which only training uses, goes. `fresh` makes names of values. Functions stay: they have no constants of their own.
void write_raised(const onnx::ModelProto& model, int opset, const std::function<std::string(const std::string&)>& fresh, Edits& edits);

}  // namespace tenfold::onnx_export
