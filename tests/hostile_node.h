// A node of an ONNX model whose every part can be made wrong: operands, attributes, results, opset.
#pragma once

#include <random>

#include "onnx_import/standard_table.h"
#include "onnx_import/model_for_tests.h"
#include "onnx_ops/table.h"
#include "ops/cases.h"

namespace tenfold {

struct HostileOperand {
  bool missing = false, constant = true;
  Tensor data;
  onnx_import::Names declared;   // of an input: its dims in the file; empty: those of the data
};
struct HostileNode {
  std::string domain, op;
  int opset = 1;
  std::vector<HostileOperand> operands;
  std::vector<onnx_import::onnx::AttributeProto> attributes;
  int outputs = 1;
  std::string mutation;   // in words
};

// The model around it: the node is called "victim", its operands "x0", "x1" and so on.
onnx_import::onnx::ModelProto model_of(const HostileNode& node);
// What it is given that is no constant.
std::vector<Tensor> inputs_of(const HostileNode& node);

// Nodes that are right, or that have at least operands and attributes of the names that the operator knows.
std::vector<HostileNode> bases(const onnx_ops::Known& known);

// One thing about it is wrong, or nothing is.
HostileNode mutated(const HostileNode& node, std::mt19937& random);

}  // namespace tenfold
