// What the ONNX standard says of nodes: which attributes an operator of ai.onnx has at an opset, and which operands share a type.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tenfold::onnx_import {

struct StandardForm {
  const char* op;     // in alphabetical order
  int since;          // the first opset that has this text
  const char* text;
};
// "axis:i! keepdims:i": names, types (standard_rules.cpp), "!" where it must be given.
extern const std::span<const StandardForm> kAttributeForms;
// "aab.b": a character for each operand, equal letters where the standard gives them one type, "+" behind one that may be repeated.
// Operators without such operands have no line.
extern const std::span<const StandardForm> kOperandForms;

// Both throw a fault (ir/fault.h), and do not judge operators that the standard lacks.
// Unless the attributes are those of the operator at this opset: an attribute of another opset would mean nothing there. `type`: the
// AttributeProto type of each attribute.
void check_attributes_of_standard(const std::string& op, int opset, const std::map<std::string, int>& types);
// Unless operands that share a type do; null: one that is left out.
void check_operands_of_standard(const std::string& op, int opset, const std::vector<ir::Value*>& operands);

}  // namespace tenfold::onnx_import
