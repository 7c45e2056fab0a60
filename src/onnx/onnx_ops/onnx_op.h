// OnnxOp: all that models may write under one name of ONNX, by opset. A value returned by a function that is named after folder and file;
// the folder stands for the domain (table.cpp). An operator of the graph that ONNX has under the same name, with the same inputs and
// attributes at all opsets, needs no file here: its OpDef says `onnx_since`.
#pragma once

#include <string>
#include <vector>

#include "ir/op_def.h"

namespace tenfold::onnx_ops {

using namespace ir;

class OnnxImport;   // onnx_node.h: what a conversion sees of its ONNX node; no protobuf
using Conversion = std::vector<Value*> (*)(OnnxImport&);

// What a node of some opset means, from `since` on up to the next form.
struct OnnxForm {
  OnnxForm(int since) : since(since) {}   // the graph's operator of the same name, with the same inputs and attributes
  OnnxForm(int since, Conversion convert) : since(since), convert(convert) {}
  OnnxForm(int since, const char* definition) : since(since), definition(definition) {}   // as text: Definition of ir/text.h

  int since;
  Conversion convert = nullptr;
  const char* definition = nullptr;
};

struct OnnxOp {
  std::string name;
  std::vector<OnnxForm> forms;
  std::string domain = {};   // of its folder; "": ai.onnx
};

}  // namespace tenfold::onnx_ops
