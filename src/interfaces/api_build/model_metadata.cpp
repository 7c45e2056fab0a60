// What an ONNX file says of itself: the fields of its outermost messages that are no graph. The numbers are the standard's.
#include "tenfold/model_metadata.h"

#include "base/check.h"
#include "base/files/file.h"
#include "onnx_import/wire.h"

namespace tenfold {
namespace {

using onnx_import::Fields;

void read_graph(Fields in, ModelMetadata& m) {
  while (in.next()) {
    if (in.number() == 2) m.graph_name = in.text();
    if (in.number() == 10) m.graph_description = in.text();
  }
}

void read_property(Fields in, ModelMetadata& m) {
  std::string key, value;
  while (in.next()) {
    if (in.number() == 1) key = in.text();
    if (in.number() == 2) value = in.text();
  }
  m.properties[std::move(key)] = std::move(value);
}

}  // namespace

ModelMetadata model_metadata(std::span<const std::byte> onnx) {
  require(!onnx.empty(), ErrorKind::invalid_model, "is empty, an ONNX model was expected");
  onnx_import::Source source{.bytes = onnx, .what = "an ONNX model"};
  ModelMetadata m;
  bool is_model = false;
  Fields in(source, "ModelProto");
  while (in.next()) switch (in.number()) {
    case 2: m.producer_name = in.text(); break;
    case 3: m.producer_version = in.text(); break;
    case 4: m.domain = in.text(); break;
    case 5: m.version = in.integer(); break;
    case 6: m.description = in.text(); break;
    case 7: read_graph(in.message("GraphProto"), m), is_model = true; break;
    case 14: read_property(in.message("StringStringEntryProto"), m); break;
    default: break;
  }
  require(is_model, ErrorKind::invalid_model, "has no graph, an ONNX model was expected");
  return m;
}

ModelMetadata model_metadata(const std::string& path) {
  const auto file = MappedFile::read(path);
  try {
    return model_metadata(file->bytes());
  } catch (Error& error) {
    error.within(path);
    throw;
  }
}

}  // namespace tenfold
