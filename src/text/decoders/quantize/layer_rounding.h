// The products of one layer while they are rounded: floats, and the data that they meet.
#pragma once

#include <string>
#include <vector>

#include "tenfold/internal/round_groups.h"
#include "text/decoders/model.h"
#include "text/decoders/quantize/layer_engine.h"
#include "text/transformers/narrow/rounded_matrix.h"

namespace tenfold::decoders {

struct InputMoments {
  DataMoments used, held_out;   // of texts that calibrate, and of the others
  explicit InputMoments(std::int64_t size) : used(size), held_out(size) {}
};

struct ProductRounding {
  transformers::LinearLayer layer;
  DType scale_type = DType::f32;
  std::vector<float> matrix;    // [out, in], with awq's factors
  InputMoments moments;         // of its data, divided by them
  std::vector<float> divided;   // by which awq divided its outputs; empty: it did not
  double squares = 0;           // of its results for texts held out, which no factor changes
  double nearest_error = 0;     // of its results for texts held out, rounded as "rtn" does without awq's factors
  transformers::RoundedMatrix rounded = {};
  double error(const transformers::RoundedMatrix& of) const;   // relative, of its results for texts held out
};

struct RoundingMethod {
  std::string name;             // rtn, gptq, awq
  transformers::NarrowForm form;
  transformers::RoundedMatrix nearest(const ProductRounding& product) const;   // as rtn does
  transformers::RoundedMatrix round(const ProductRounding& product) const;     // by the texts that calibrate
};

// AWQ's factors: moves them between the products of a layer, and changes norms and biases of the model.
void share_factors(Model& model, std::int64_t layer, std::vector<ProductRounding>& products, const RoundingMethod& method);

}  // namespace tenfold::decoders
