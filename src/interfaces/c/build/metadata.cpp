// What an ONNX file says of itself, from C.
#include "c/run/common.h"
#include "tenfold/c/model_metadata.h"
#include "tenfold/model_metadata.h"

using namespace tenfold;
using namespace tenfold::c;

struct tenfold_metadata {
  ModelMetadata metadata;
};

extern "C" tenfold_status tenfold_metadata_read(const char* path, tenfold_metadata** metadata) {
  return guarded([&] {
    place(metadata, "the place for the metadata",
          [&] { return new tenfold_metadata{model_metadata(std::string(&need(path, "the path")))}; });
  });
}
extern "C" tenfold_status tenfold_metadata_read_bytes(const void* onnx, size_t bytes, tenfold_metadata** metadata) {
  return guarded([&] {
    const std::span all(&need(static_cast<const std::byte*>(onnx), "the model"), bytes);
    place(metadata, "the place for the metadata", [&] { return new tenfold_metadata{model_metadata(all)}; });
  });
}
extern "C" void tenfold_metadata_free(tenfold_metadata* metadata) { delete metadata; }
extern "C" tenfold_status tenfold_metadata_get(const tenfold_metadata* metadata, tenfold_metadata_info* info) {
  return guarded([&] {
    const ModelMetadata& m = need(metadata, "the metadata").metadata;
    give(info,
         {0, m.producer_name.c_str(), m.producer_version.c_str(), m.domain.c_str(), m.description.c_str(), m.graph_name.c_str(),
          m.graph_description.c_str(), m.version.value_or(0), m.version.has_value(), static_cast<std::int32_t>(m.properties.size())},
         "the place for the information");
  });
}
extern "C" tenfold_status tenfold_metadata_property(const tenfold_metadata* metadata, int32_t index, const char** key, const char** value) {
  return guarded([&] {
    const auto& properties = need(metadata, "the metadata").metadata.properties;
    require(index >= 0 && static_cast<std::size_t>(index) < properties.size(), ErrorKind::invalid_argument, "there is no property ", index,
            ", there are ", properties.size());
    const auto& [name, text] = *std::next(properties.begin(), index);
    need(key, "the place for the key") = name.c_str(), need(value, "the place for the value") = text.c_str();
  });
}
