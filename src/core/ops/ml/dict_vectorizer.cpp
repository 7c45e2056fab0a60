// DictVectorizer: what a map holds for each word of a vocabulary, zero or nothing for others.
#include "ops/elements.h"
#include "ops/ml/labels_common.h"

namespace tenfold::ir {
namespace {

Tensor vocabulary_of(const Attributes& a) { return ops::class_labels(a, "int64_vocabulary", "string_vocabulary"); }

void infer(InferCall& call) {
  const ValueType& type = call.type(0);
  const Tensor words = vocabulary_of(call.attributes());
  call.validate(type.kind == ValueType::Kind::map && type.element().is_tensor(), "operand 0 of DictVectorizer is ", text(type),
             ", a map of tensors expected");
  call.validate(type.key == words.dtype(), "the map's keys are ", name(type.key), ", the vocabulary's ", name(words.dtype()));
  call.out(0, type.tensor.dtype, {Dim(1), Dim(words.size())});
}

void on_values(ValueCall& call) {
  const Tensor words = vocabulary_of(call.attributes());
  const ValueMap& map = call.in(0).as_map();
  call.check_shape(map.keys.dtype() == words.dtype(), "the map's keys are ", name(map.keys.dtype()), ", the vocabulary's ",
                   name(words.dtype()));
  Tensor y(call.node().out()->dtype(), {1, words.size()});
  const ops::KeyPlaces places(map.keys, words.dtype());
  for (std::int64_t w = 0; w < words.size(); ++w) {
    const std::int64_t k = places.find(words, w);
    if (k < 0) continue;
    const Tensor& value = map.values[static_cast<std::size_t>(k)].tensor();
    call.check_shape(value.dtype() == y.dtype() && value.size() == 1, "a value of the map is ",
                     map.values[static_cast<std::size_t>(k)].text(), ", one ", name(y.dtype()), " expected");
    ops::move_elements(y.dtype(), value.raw(), 0, y.mutable_raw(), w, 1);
  }
  call.give(0, y);
}

}  // namespace

OpDef op_dict_vectorizer() {
  return {.name = "DictVectorizer",
          .types = "* -> any",
          .optional_attributes = "int64_vocabulary: ints, string_vocabulary: strings",
          .infer = infer,
          .onnx_since = 1,
          .onnx_domain = "ai.onnx.ml",
          .on_host = "a GPU has no maps",
          .on_values = on_values};
}

}  // namespace tenfold::ir
