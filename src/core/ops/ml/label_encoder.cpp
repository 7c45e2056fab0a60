// LabelEncoder: each element replaced by what a table has for it, or by a default.
#include <algorithm>

#include "base/types/element.h"
#include "ops/elements.h"
#include "ops/ml/labels_common.h"

namespace tenfold::ir {
namespace {

Tensor list_of(const Ints& values) {
  Tensor t(DType::i64, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), t.mutable_data<std::int64_t>());
  return t;
}
Tensor list_of(const Floats& values) {
  Tensor t(DType::f32, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), t.mutable_data<float>());
  return t;
}
Tensor list_of(const Strings& values) { return Tensor::strings({static_cast<std::int64_t>(values.size())}, values); }

// The one list that the attributes give under this stem: keys_int64s, keys_floats, keys_strings or keys_tensor.
Tensor list(const Attributes& a, const std::string& stem) {
  std::vector<Tensor> found;
  if (a.has(stem + "_int64s")) found.push_back(list_of(a.ints(stem + "_int64s")));
  if (a.has(stem + "_floats")) found.push_back(list_of(a.floats(stem + "_floats")));
  if (a.has(stem + "_strings")) found.push_back(list_of(a.strings(stem + "_strings")));
  if (a.has(stem + "_tensor")) found.push_back(a.tensor(stem + "_tensor"));
  validate(found.size() == 1, found.size(), " attributes give ", stem, "; one of ", stem, "_int64s, _floats, _strings and _tensor has to");
  return found[0];
}

struct Table {
  Tensor keys, values;
  Tensor otherwise;   // one element
};

Tensor default_of(const Attributes& a, DType type) {
  if (a.has("default_tensor")) {
    const Tensor& t = a.tensor("default_tensor");
    validate(t.dtype() == type && t.size() == 1, "default_tensor is ", name(t.dtype()), " of ", t.size(), " elements, one ", name(type),
          " expected");
    return t;
  }
  if (type == DType::string) return Tensor::strings({}, {a.string("default_string", "_Unused")});
  Tensor t(type, {});
  if (is_float(type)) store_double(type, t.mutable_raw(), 0, static_cast<double>(a.number("default_float", -0.0f)));
  else store_int(type, t.mutable_raw(), 0, a.integer("default_int64", -1));
  return t;
}

// At opset 1 classes_strings maps strings to their places, or places to the strings.
Table table_of(const Attributes& a, DType from) {
  Table t;
  if (a.has("classes_strings")) {
    const Strings& classes = a.strings("classes_strings");
    Ints places(classes.size());
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::int64_t>(i);
    t.keys = list_of(classes), t.values = list_of(places);
    if (from != DType::string) std::swap(t.keys, t.values);
  } else {
    t.keys = list(a, "keys"), t.values = list(a, "values");
  }
  validate(t.keys.size() == t.values.size(), "there are ", t.keys.size(), " keys and ", t.values.size(), " values");
  validate(t.keys.dtype() == from, "the keys are ", name(t.keys.dtype()), ", the elements ", name(from));
  t.otherwise = default_of(a, t.values.dtype());
  return t;
}

void infer(InferCall& call) { call.out(0, table_of(call.attributes(), call.dtype(0)).values.dtype(), call.dims(0)); }

void on_values(ValueCall& call) {
  const Tensor& x = call.tensor(0);
  const Table table = table_of(call.attributes(), x.dtype());
  const ops::KeyPlaces places(table.keys, x.dtype());
  Tensor y(table.values.dtype(), x.shape());
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const std::int64_t at = places.find(x, i);
    const Tensor& from = at < 0 ? table.otherwise : table.values;
    ops::move_elements(y.dtype(), from.raw(), std::max<std::int64_t>(at, 0), y.mutable_raw(), i, 1);
  }
  call.give(0, y);
}

}  // namespace

OpDef op_label_encoder() {
  return {.name = "LabelEncoder",
          .types = "any -> any",
          .optional_attributes = "classes_strings: strings, default_float: float, default_int64: int, default_string: "
                                 "string, default_tensor: tensor, keys_floats: floats, keys_int64s: ints, keys_strings: "
                                 "strings, keys_tensor: tensor, values_floats: floats, values_int64s: ints, values_strings: "
                                 "strings, values_tensor: tensor",
          .infer = infer,
          .onnx_since = 1,
          .onnx_domain = "ai.onnx.ml",
          .on_host = "tables of labels are read by the host",
          .on_values = on_values};
}

}  // namespace tenfold::ir
