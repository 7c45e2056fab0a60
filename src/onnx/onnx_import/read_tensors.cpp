// Tensors, and the sequences and optionals of them that test data files hold.
#include "base/check.h"
#include "onnx_import/read_messages.h"

namespace tenfold::onnx_import {
namespace {

void read_fields(Fields in, onnx::StringStringEntryProto& m) {
  while (in.next()) switch (in.number()) {
    case 1: m.key = in.text(); break;
    case 2: m.value = in.text(); break;
    default: in.unknown();
  }
}

void read_fields(Fields in, onnx::MapProto& m);

void read_fields(Fields in, onnx::SequenceProto& m) {
  while (in.next()) switch (in.number()) {
    case 1: case 2: break;   // name, elem_type
    case 3: read_fields(in.message("TensorProto"), m.tensor_values.emplace_back()); break;
    case 5: read_fields(in.message("SequenceProto"), m.sequence_values.emplace_back()); break;
    case 6: read_fields(in.message("MapProto"), m.map_values.emplace_back()); break;
    case 4: case 7: m.other_values = true; break;   // sparse tensors, optionals
    default: in.unknown();
  }
}

void read_fields(Fields in, onnx::MapProto& m) {
  while (in.next()) switch (in.number()) {
    case 1: break;   // name
    case 2: m.key_type = in.integer(); break;
    case 3: in.append(m.keys); break;
    case 4: m.string_keys.push_back(in.string()); break;
    case 5: read_fields(in.message("SequenceProto"), m.values); break;
    default: in.unknown();
  }
}

void read_fields(Fields in, onnx::OptionalProto& m) {
  while (in.next()) switch (in.number()) {
    case 1: case 2: break;   // name, elem_type
    case 3: read_fields(in.message("TensorProto"), m.tensor_value.edit()); break;
    case 6: read_fields(in.message("MapProto"), m.map_value.edit()); break;
    case 4: case 7: m.other_value = true; break;   // a sparse tensor, an optional
    case 5: read_fields(in.message("SequenceProto"), m.sequence_value.edit()); break;
    default: in.unknown();
  }
}

template <class Message>
Message read(Bytes bytes, const char* what, const char* name) {
  Source source{bytes, what};
  Message message;
  read_fields(Fields(source, name), message);
  return message;
}

}  // namespace

void read_fields(Fields in, onnx::TensorProto& m) {
  while (in.next()) switch (in.number()) {
    case 1: in.append(m.dims); break;
    case 2: m.data_type = in.integer(); break;
    case 3: m.segment = true; break;
    case 4: in.append(m.float_data); break;
    case 5: in.append(m.int32_data); break;
    case 6: m.string_data.push_back(in.string()); break;
    case 7: in.append(m.int64_data); break;
    case 8: m.name = in.name(); break;
    case 9: m.raw_data = in.bytes(); break;
    case 10: in.append(m.double_data); break;
    case 11: in.append(m.uint64_data); break;
    case 12: case 16: break;   // doc_string, metadata_props
    case 13: read_fields(in.message("StringStringEntryProto"), m.external_data.emplace_back()); break;
    case 14: m.data_location = in.integer(); break;
    default: in.unknown();
  }
}

void read_fields(Fields in, onnx::SparseTensorProto& m) {
  while (in.next()) switch (in.number()) {
    case 1: read_fields(in.message("TensorProto"), m.values.edit()); break;
    case 2: read_fields(in.message("TensorProto"), m.indices.edit()); break;
    case 3: in.append(m.dims); break;
    default: in.unknown();
  }
}

onnx::TensorProto read_tensor(Bytes bytes) {
  require(!bytes.empty(), ErrorKind::invalid_model, "is empty, a TensorProto was expected");
  return read<onnx::TensorProto>(bytes, "a TensorProto", "TensorProto");
}
onnx::SequenceProto read_sequence(Bytes bytes) {
  require(!bytes.empty(), ErrorKind::invalid_model, "is empty, a SequenceProto was expected");
  return read<onnx::SequenceProto>(bytes, "a SequenceProto", "SequenceProto");
}
onnx::OptionalProto read_optional(Bytes bytes) { return read<onnx::OptionalProto>(bytes, "an OptionalProto", "OptionalProto"); }

}  // namespace tenfold::onnx_import
