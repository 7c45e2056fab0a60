// Layouts of quantized folders as they are written; their readers are the files of the same names.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "text/transformers/narrow/rounded_matrix.h"

namespace tenfold::transformers {

struct NarrowPart {
  std::string suffix;   // behind the layer's name: ".qweight"
  DType type;
  Shape shape;
};

class NarrowLayout {
 public:
  virtual ~NarrowLayout() = default;
  // Of a layer whose floats have this type; without values, what there will be.
  virtual std::vector<NarrowPart> parts(const LinearLayer& layer, const NarrowForm& form, DType floats) const = 0;
  virtual std::vector<Tensor> packed(const RoundedMatrix& matrix) const = 0;   // in the same order
  virtual DType scale_type(DType floats) const = 0;
  virtual nlohmann::json quantization_config(const NarrowForm& form) const = 0;
};

const NarrowLayout& compressed_layout();   // of Linear alone: [out, in]
const NarrowLayout& gptq_layout();         // of GPT-2's layers, too

Tensor scales_tensor(const RoundedMatrix& matrix, bool by_input);   // [out, blocks] or [blocks, out], in their type

}  // namespace tenfold::transformers
