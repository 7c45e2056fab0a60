// Which epilogues are left to cuBLASLt and cuDNN, and which operand plays which part in them.
#include <gtest/gtest.h>

#include "backends/cuda/tactics/conv/conv_common.h"
#include "backends/cuda/tactics/gemm/matmul_lt_common.h"

namespace tenfold::backends::cuda {
namespace {

OperandDesc f16(ir::Dims dims, Layout layout = kPlain) {
  OperandDesc o;
  o.dtype = DType::f16, o.dims = std::move(dims), o.layout = layout;
  return o;
}

struct Read {
  Verdict verdict = Verdict::ok();
  LibraryEpilogue epilogue;
};
Read read(bool conv, const char* text, std::vector<OperandDesc> addends) {
  const ir::Body body = ir::parse_body(text);
  Problem p;
  const ir::Dims dims = conv ? ir::Dims{2, 8, 4, 4} : ir::Dims{16, 8};
  p.anchor_inputs = 2, p.body = &body;
  p.in = {f16(dims), f16({8, 8})};
  p.in.insert(p.in.end(), addends.begin(), addends.end());
  p.out = {f16(dims, conv ? kChannelsLast : kPlain)};
  Read r;
  r.verdict = conv ? match_conv_epilogue(p, r.epilogue) : match_lt_epilogue(p, r.epilogue);
  return r;
}

const char* const kWhole = "(f16,f16,f16) %3=add.f16(%0,%1) %4=add.f16(%2,%3) %5=constant.f16(0) %6=max.f16(%4,%5) -> %6";

TEST(LibraryEpilogue, KnowsBiasAndResidual) {
  const Read product = read(false, kWhole, {f16({8}), f16({16, 8})});
  EXPECT_TRUE(product.verdict.yes) << product.verdict.reason;
  EXPECT_EQ(product.epilogue.bias, 2);
  EXPECT_EQ(product.epilogue.residual, 3);
  EXPECT_TRUE(product.epilogue.relu);
  const Read conv = read(true, kWhole, {f16({2, 8, 4, 4}, kChannelsLast), f16({8, 1, 1})});
  EXPECT_TRUE(conv.verdict.yes) << conv.verdict.reason;
  EXPECT_EQ(conv.epilogue.bias, 3);
  EXPECT_EQ(conv.epilogue.residual, 2);
  EXPECT_TRUE(conv.epilogue.relu);
}

TEST(LibraryEpilogue, RefusesAllElse) {
  const char* const sum = "(f16,f16) %2=add.f16(%0,%1) -> %2";
  EXPECT_EQ(read(false, sum, {f16({16, 1})}).verdict.reason, "an addend is neither a bias nor of the result's shape");
  EXPECT_EQ(read(true, sum, {f16({4})}).verdict.reason, "an addend is neither a bias nor of the result's shape");
  OperandDesc strided = f16({16, 8});
  strided.dense = false;
  EXPECT_EQ(read(false, sum, {strided}).verdict.reason, "an addend has another type or is strided");
  EXPECT_EQ(read(false, "(f16) %1=exp.f16(%0) -> %1", {}).verdict.reason, "the epilogue has exp");
  EXPECT_FALSE(read(false, "(f16,f16) %2=constant.f16(0) %3=max.f16(%0,%2) %4=add.f16(%3,%1) -> %4", {f16({8})}).verdict.yes);
  EXPECT_FALSE(read(false, "(f16) %1=constant.f16(1) %2=max.f16(%0,%1) -> %2", {}).verdict.yes);
}

}  // namespace
}  // namespace tenfold::backends::cuda
