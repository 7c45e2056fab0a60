// CategoryMapper: LabelEncoder between one list of integers and one of strings, in the direction that the elements ask for.
#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  Value* x = call.given(0);
  const Attributes& a = call.attributes;
  for (const char* needed : {"cats_int64s", "cats_strings"}) validate(a.has(needed), "attribute '", needed, "' is missing");
  if (x->dtype() == DType::string)
    return call.add("LabelEncoder", {x}, {{"keys_strings", a.strings("cats_strings")}, {"values_int64s", a.ints("cats_int64s")},
                                          {"default_int64", a.integer("default_int64", -1)}});
  supported(x->dtype() == DType::i64, "elements are ", name(x->dtype()), ", strings and i64 are supported");
  return call.add("LabelEncoder", {x}, {{"keys_int64s", a.ints("cats_int64s")}, {"values_strings", a.strings("cats_strings")},
                                        {"default_string", a.string("default_string", "_Unused")}});
}

}  // namespace

OnnxOp onnx_ml_category_mapper() { return {.name = "CategoryMapper", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
