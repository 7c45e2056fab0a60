// SumNorm (internal): a sum of rows of tables and of plain tensors, then LayerNormalization over the last dim. Operands: scale,
// bias, then for each term a table and the indices of its rows, or a tensor that broadcasts and no indices. Results: the norm, then, if
// asked for, the same quantised to 8 bits with one scale and zero point. Made by fusion passes for GPUs.
#include "ops/norm/norm_common.h"
#include "ops/quantize/quantize_common.h"

namespace tenfold::ir {
namespace {

bool indexed(const Call& call, std::size_t i) { return i + 1 < call.in.size() && call.has(static_cast<int>(i) + 1); }

void infer(InferCall& call) {
  Dims result;
  for (int i = 2; i < call.inputs(); i += 2) {
    Dims term = call.dims(i);
    if (call.has(i + 1)) {
      call.need(term.size() == 2, "a table has rank ", term.size(), ", 2 expected");
      term = call.dims(i + 1);
      term.push_back(call.dims(i)[1]);
    }
    result = broadcast(result, term);
  }
  call.need(!result.empty(), "there is nothing to add");
  for (int i = 0; i < 2; ++i)
    call.need(call.rank(i) == 1 && call.dims(i)[0] == result.back(), "scale and bias need the extent of the last dim, ",
              result.back().text());
  call.out(0, call.dtype(2), result);
  if (call.outputs() < 2) return;
  const auto type = dtype_from_name(call.attributes().string("quantised"));
  call.sound(type == DType::u8 || type == DType::i8 || type == DType::f8e4m3fn, "the second result is quantised to \"",
             call.attributes().string("quantised"), "\", expected u8, i8 or f8e4m3fn");
  call.out(1, *type, result);
}

// What QuantizeLinear would make of the first result.
void quantise(Call& call) {
  const ops::RealIn<float> y(call.out[0]);
  const TensorRef& small = call.out[1];
  const auto scale = static_cast<float>(call.attributes().number("scale"));
  const auto zero = static_cast<double>(call.attributes().number("zero"));
  for (std::int64_t i = 0; i < small.size(); ++i) {
    if (is_float(small.dtype))
      store_double(small.dtype, small.data, i, static_cast<double>(y[i] / scale));
    else
      store_int(small.dtype, small.data, i, static_cast<std::int64_t>(ops::quantized(y[i], scale, zero, ops::range_of(small.dtype))));
  }
}

template <class T>
void run(Call& call) {
  const Shape& shape = call.out[0].shape;
  const std::int64_t row = shape.back();
  std::vector<double> sum(static_cast<std::size_t>(call.out[0].size()));
  for (std::size_t i = 2; i < call.in.size(); i += 2) {
    const ops::RealIn<T> term(call.in[i]);
    if (!indexed(call, i)) {
      const ops::Broadcast at(call.in[i].shape, shape);
      for (std::size_t e = 0; e < sum.size(); ++e) sum[e] += static_cast<double>(term[at(static_cast<std::int64_t>(e))]);
      continue;
    }
    Ints indices = ops::read_ints(call.in[i + 1]);
    Shape leading(shape.begin(), shape.end() - 1);
    const ops::Broadcast at(call.in[i + 1].shape, leading);
    for (std::size_t r = 0; r < sum.size() / static_cast<std::size_t>(std::max<std::int64_t>(row, 1)); ++r) {
      const std::int64_t index = ops::wrap_index(call, static_cast<int>(i) + 1,
                                                 indices[static_cast<std::size_t>(at(static_cast<std::int64_t>(r)))], call.in[i].shape[0]);
      for (std::int64_t h = 0; h < row; ++h)
        sum[r * static_cast<std::size_t>(row) + static_cast<std::size_t>(h)] += static_cast<double>(term[index * row + h]);
    }
  }
  const ops::RealIn<T> scale(call.in[0]), bias(call.in[1]);
  const ops::RealOut<T> y(call.out[0]);
  const double epsilon = call.attributes().number("epsilon");
  for (std::int64_t first = 0; row > 0 && first < call.out[0].size(); first += row) {
    const ops::Moments m = ops::moments(sum.data() + first, row);
    for (std::int64_t h = 0; h < row; ++h)
      y[first + h] = static_cast<T>((sum[static_cast<std::size_t>(first + h)] - m.mean) / std::sqrt(m.variance + epsilon) *
                                        static_cast<double>(scale[h]) + static_cast<double>(bias[h]));
  }
}

void reference(Call& call) {
  ops::with_real(call.in[2].dtype, [&]<class T>(T) { run<T>(call); });
  if (call.out.size() > 1) quantise(call);
}

}  // namespace

OpDef op_sum_norm() {
  return {.name = "SumNorm",
          .min_inputs = 3,
          .max_inputs = 10,
          .max_outputs = 2,
          .types = "float, float, T, int, float, int, float, int, float, int -> T, *; T: float",
          .attributes = {{"epsilon", 1e-5f}, {"quantised", ""}, {"scale", 1.0f}, {"zero", 0.0f}},
          .infer = infer,
          .reference = reference,
          .traits = {.narrows = true},
          .cases = {"f32[8] f32[8] f32[10,8] i64[2,3](0,9)", "f16[64] f16[64] f16[9,64]! i64[2,5](0,8) f16[1,5,64]! _",
                    "f32[384]! f32[384]! f32[9,384]! i64[2,5](-9,8) f32[5,384]! _ f32[2,384]! i32[2,5](0,1)",
                    "f16[100] f16[100] f16[9,100] i64[1,5](0,8) f16[3,5,100] _", "f16[384] f16[384] f16[6,384] _ f16[6,384] _ f16[384]!",
                    "f16[100] f16[100] f16[9,100] _ f16[9,100] outputs=2 quantised=\"f8e4m3fn\" scale=0.01",
                    "f32[384] f32[384] f32[6,384] _ f32[6,384] outputs=2 quantised=\"u8\" scale=0.02 zero=128.0"}};
}

}  // namespace tenfold::ir
