// Tests of FLOPs and bytes; expected values are counted by hand from the operators' definitions.
#include "report/work.h"

#include <gtest/gtest.h>

namespace tenfold::cli {
namespace {

WorkOperand f32(Shape shape) { return {DType::f32, std::move(shape)}; }

TEST(Work, Products) {
  EXPECT_EQ(flops_of({"MatMul", "", {f32({2, 3, 5}), f32({5, 7})}, {f32({2, 3, 7})}}), 2 * 2 * 3 * 7 * 5);
  EXPECT_EQ(flops_of({"Gemm", "transA=1 transB=0", {f32({5, 3}), f32({5, 7})}, {f32({3, 7})}}), 2 * 3 * 7 * 5);
  EXPECT_EQ(flops_of({"Gemm", "transA=0 transB=1", {f32({3, 5}), f32({7, 5})}, {f32({3, 7})}}), 2 * 3 * 7 * 5);
}

TEST(Work, Convolutions) {
  // 16 filters of 8x3x3 at 10x10 places; two groups halve each filter.
  EXPECT_EQ(flops_of({"Conv", "", {f32({1, 8, 12, 12}), f32({16, 8, 3, 3})}, {f32({1, 16, 10, 10})}}), 2 * 16 * 100 * 8 * 9);
  EXPECT_EQ(flops_of({"Conv", "group=2", {f32({1, 8, 12, 12}), f32({16, 4, 3, 3})}, {f32({1, 16, 10, 10})}}), 2 * 16 * 100 * 4 * 9);
  // Each of 8*25 inputs is multiplied with 4 filters of 2x2.
  EXPECT_EQ(flops_of({"ConvTranspose", "", {f32({1, 8, 5, 5}), f32({8, 4, 2, 2})}, {f32({1, 4, 10, 10})}}), 2 * 8 * 25 * 4 * 4);
}

TEST(Work, AttentionAndRecurrence) {
  const WorkOperand q = f32({2, 4, 6, 8}), k = f32({2, 2, 10, 8}), v = f32({2, 2, 10, 3});
  EXPECT_EQ(flops_of({"FusedAttention", "", {q, k, v}, {f32({2, 4, 6, 3})}}), 2 * 2 * 4 * 6 * 10 * (8 + 3));
  WorkStep packed{"FusedAttention", "", {q, k, v, {.present = false}, {DType::i32, Shape{5}}}, {f32({2, 4, 6, 3})}};
  EXPECT_FALSE(flops_of(packed));
  EXPECT_EQ(flops_of({"LSTM", "", {f32({7, 2, 3}), f32({1, 16, 3}), f32({1, 16, 4})}, {f32({7, 1, 2, 4})}}), 2 * 7 * 2 * 16 * (3 + 4));
}

TEST(Work, WhatIsNotKnown) {
  EXPECT_EQ(flops_of({"Relu", "", {f32({4})}, {f32({4})}}), 0);
  EXPECT_FALSE(flops_of({"Einsum", "", {f32({4, 4}), f32({4, 4})}, {f32({4, 4})}}));
  EXPECT_FALSE(flops_of({"ExpandDepthwise", "", {f32({1, 4, 4, 4})}, {f32({1, 4, 4, 4})}}));
  EXPECT_FALSE(flops_of({"com.example.Snake", "", {f32({4})}, {f32({4})}}));
  EXPECT_FALSE(flops_of({"MatMul", "", {f32({2, 3}), f32({3, 4})}, {{DType::f32, std::nullopt}}}));
  EXPECT_FALSE(bytes_moved({"Relu", "", {{DType::f32, std::nullopt}}, {f32({4})}}));
  EXPECT_FALSE(flops_of({"MatMul", "", {f32({1LL << 40, 1LL << 40})}, {f32({1LL << 40, 1LL << 40})}}));
  EXPECT_FALSE(bytes_of(f32({1LL << 40, 1LL << 22})));
}

TEST(Work, Bytes) {
  EXPECT_EQ(bytes_moved({"MatMul", "", {f32({2, 3}), {DType::f32, Shape{3, 4}, 100}}, {f32({2, 4})}}), 24 + 100 + 32);
  EXPECT_EQ(bytes_moved({"Add", "", {{DType::i4, Shape{3}}, {.present = false}}, {{DType::u8, Shape{3}}}}), 2 + 3);
  // Of a table of a million rows ten are read.
  EXPECT_EQ(bytes_moved({"Gather", "", {f32({1000000, 8}), {DType::i64, Shape{10}}}, {f32({10, 8})}}), 320 + 80 + 320);
}

}  // namespace
}  // namespace tenfold::cli
