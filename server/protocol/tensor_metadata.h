// What a model's metadata tell of inputs and outputs, in both protocols.
#pragma once

#include "core/models.h"

namespace tenfold::server {

struct TensorMetadata {
  std::string name;
  std::string_view datatype;                     // "FP32"
  Shape shape;                                   // as requests have it, -1: any extent
};
std::vector<TensorMetadata> tensor_metadata(const Model& model, bool inputs);
std::string platform_of(const Model& model);     // the configured one, else by the file

}  // namespace tenfold::server
