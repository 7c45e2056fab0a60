// A model file has no say in what may be rounded: the fields of ir::Numerics are no attributes, under any name.
#include "onnx_import/model_for_tests.h"

namespace tenfold::onnx_import {
namespace {

TEST(Import, NoAttributeAllowsRounding) {
  for (const char* op : {"MatMul", "Conv", "ConvTranspose", "Softmax", "LogSoftmax"})
    for (const char* name : {"precision", "round_to", "winograd", "strassen", "fast_exp", "exact", "numerics"}) {
      auto model = new_model();
      auto& graph = model.graph.edit();
      add_input(graph, "x", {"1", "2", "4", "4"});
      const bool is_product = std::string(op).find("Softmax") == std::string::npos;
      if (is_product) add_input(graph, "w", {"2", "2", "4", "4"});
      auto& node = add_node(graph, op, is_product ? Names{"x", "w"} : Names{"x"}, {"y"}, "the_node");
      add_attribute(node, name, 3).s = "bf16";
      add_output(graph, "y");
      const Failure found = failure(model);
      EXPECT_EQ(found.kind, ErrorKind::invalid_model) << op << name;
      EXPECT_NE(found.text.find("the_node"), std::string::npos) << found.text;
      EXPECT_NE(found.text.find("no attribute '" + std::string(name) + "'"), std::string::npos) << found.text;
    }
}

}  // namespace
}  // namespace tenfold::onnx_import
