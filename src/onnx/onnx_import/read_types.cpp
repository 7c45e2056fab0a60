// Types of values. Of the kinds of type that exclude each other the last one counts.
#include "onnx_import/read_messages.h"

namespace tenfold::onnx_import {
namespace {

void read_fields(Fields in, onnx::TensorShapeProto::Dimension& m) {
  while (in.next()) switch (in.number()) {
    case 1:   // -1, as old exporters write what they do not know, is no extent
      m = {};
      if (in.integer() != -1) m.dim_value = in.integer();
      break;
    case 2: m = {std::nullopt, in.name()}; break;
    case 3: break;   // denotation
    default: in.unknown();
  }
}

void read_fields(Fields in, onnx::TensorShapeProto& m) {
  while (in.next()) switch (in.number()) {
    case 1: read_fields(in.message("Dimension"), m.dim.emplace_back()); break;
    default: in.unknown();
  }
}

void read_fields(Fields in, onnx::TypeProto::Tensor& m) {
  while (in.next()) switch (in.number()) {
    case 1: m.elem_type = in.integer(); break;
    case 2: read_fields(in.message("TensorShapeProto"), m.shape ? *m.shape : m.shape.emplace()); break;
    default: in.unknown();
  }
}

// A sequence or an optional: a message around the type of its elements.
void read_elements(Fields in, onnx::TypeProto& m) {
  while (in.next()) switch (in.number()) {
    case 1: read_fields(in.message("TypeProto"), m); break;
    default: in.unknown();
  }
}

// Its keys' type is a number, that of its values a message.
void read_map(Fields in, onnx::TypeProto& m) {
  while (in.next()) switch (in.number()) {
    case 1: m.key_type = in.integer(); break;
    case 2: read_fields(in.message("TypeProto"), m.map_type.edit()); break;
    default: in.unknown();
  }
}

}  // namespace

void read_fields(Fields in, onnx::TypeProto& m) {
  // Makes the message another kind, but keeps what is there of the same.
  const auto choose = [&m](std::uint32_t kind) {
    if (kind != 1) m.tensor_type.reset();
    if (kind != 4) m.sequence_type.reset();
    if (kind != 9) m.optional_type.reset();
    if (kind != 5) m.map_type.reset();
    m.opaque_type = kind == 7, m.sparse_tensor_type = kind == 8;
  };
  while (in.next()) {
    const std::uint32_t field = in.number();
    const bool kind = field == 1 || field == 4 || field == 5 || (field >= 7 && field <= 9);
    if (kind) choose(field);
    if (field == 1) read_fields(in.message("TypeProto.Tensor"), m.tensor_type ? *m.tensor_type : m.tensor_type.emplace());
    else if (field == 4) read_elements(in.message("TypeProto.Sequence"), m.sequence_type.edit());
    else if (field == 5) m.map_type.edit(), read_map(in.message("TypeProto.Map"), m);
    else if (field == 9) read_elements(in.message("TypeProto.Optional"), m.optional_type.edit());
    else if (!kind && field != 6) in.unknown();   // 6: denotation
  }
}

}  // namespace tenfold::onnx_import
