// The operands of epilogues, tile by tile, against loops over all indices.
#include "backends/cpu/block/epilogue.h"

#include <gtest/gtest.h>

#include "backends/cpu/cpu_info.h"
#include "ops/cases.h"

namespace tenfold::backends::cpu {
namespace {

using ir::Body;

OperandDesc f32(const Shape& shape) {
  OperandDesc operand;
  operand.dims = ir::to_dims(shape);
  return operand;
}

TEST(Epilogue, BroadcastsOperandsOverTiles) {
  // out[b,s,n] = max(acc + bias[n] + table[b,1,n] * scale[s,1], 0), with the residual table not mergeable over rows.
  const std::int64_t B = 3, S = 5, N = 40;
  const Body body =
      ir::parse_body("(f32,f32,f32,f32) %4=add.f32(%0,%1) %5=mul.f32(%2,%3) %6=add.f32(%4,%5) %7=constant.f32(0) %8=max.f32(%6,%7) -> %8");
  const Tensor acc = ops::random_tensor(DType::f32, {B, S, N}, 1), bias = ops::random_tensor(DType::f32, {N}, 2),
               table = ops::random_tensor(DType::f32, {B, 1, N}, 3), scale = ops::random_tensor(DType::f32, {S, 1}, 4);
  Tensor out(DType::f32, {B, S, N});
  Problem problem;
  problem.body = &body;
  problem.anchor_inputs = 2;
  problem.device = &this_cpu();
  for (const Shape& shape : {Shape{B, S, 7}, Shape{7, N}, Shape{N}, Shape{B, 1, N}, Shape{S, 1}}) problem.in.push_back(f32(shape));
  problem.out = {f32(out.shape())};
  ASSERT_TRUE(Epilogue::supports(problem));
  const Epilogue epilogue(problem, DType::f32);
  std::vector<std::vector<std::int64_t>> strides;
  std::vector<Bound> in(2), outs;
  const auto bound = [&](const Tensor& t) {
    std::vector<std::int64_t> s(t.shape().size(), 1);
    for (std::size_t i = s.size(); i-- > 1;) s[i - 1] = s[i] * t.shape()[i];
    strides.push_back(std::move(s));
    return Bound{const_cast<void*>(t.raw()), t.shape().data(), strides.back().data(), t.rank()};
  };
  strides.reserve(8);
  for (const Tensor* t : {&bias, &table, &scale}) in.push_back(bound(*t));
  outs.push_back(bound(out));
  Epilogue::Binding binding;
  epilogue.bind({in, outs, nullptr, nullptr}, TileAxes::last(3), binding);
  EXPECT_FALSE(binding.simple);
  Tensor scratch(DType::u8, {epilogue.scratch_bytes()});
  for (std::int64_t r = 0; r < B * S; r += 4)
    for (std::int64_t c = 0; c < N; c += 16)
      epilogue.apply(binding, r, std::min<std::int64_t>(4, B * S - r), c, std::min<std::int64_t>(16, N - c), acc.data<float>() + r * N + c,
                     N, scratch.mutable_raw());
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t s = 0; s < S; ++s)
      for (std::int64_t n = 0; n < N; ++n) {
        const float expected = std::max(
            0.f, acc.data<float>()[(b * S + s) * N + n] + bias.data<float>()[n] + table.data<float>()[b * N + n] * scale.data<float>()[s]);
        ASSERT_NEAR(out.data<float>()[(b * S + s) * N + n], expected, 1e-6);
      }
}

}  // namespace
}  // namespace tenfold::backends::cpu
