// What the ONNX standard says of attributes: which ones an operator has at an opset, of which type. One rule for all operators.
#pragma once

#include <iterator>
#include <map>
#include <string>

namespace tenfold::onnx_import {

struct AttributeForm {
  const char* op;           // in alphabetical order
  int since;                // the first opset that has these attributes
  const char* attributes;   // "axis:i! keepdims:i": names, types (attribute_rules.cpp), "!" where it must be given
};
extern const AttributeForm kAttributeForms[];
extern const int kNumberOfAttributeForms;

// Throws a fault (ir/fault.h) unless the attributes are those of the operator of ai.onnx at this opset: an attribute of another opset would
// mean nothing there. `type`: the AttributeProto type of each attribute. Operators that the standard lacks are not judged.
void check_against_standard(const std::string& op, int opset, const std::map<std::string, int>& types);

}  // namespace tenfold::onnx_import
