// matmul_int8 against the reference: any signedness, zero points, extremes, shapes around the tile sizes, epilogues of layers.
#include "backends/cpu/tactics/int8/int8_for_tests.h"

namespace tenfold::backends {
Tactic cpu_matmul_int8();
namespace {

using namespace testing;

// An epilogue that kernels have must not fall back to the block executor unnoticed. `columns`: operands of one value for each column.
void expect_recognized(const ir::Body& body, DType to, std::size_t columns, DType residual = DType::i32) {
  const ir::OpDef& op = ir::Registry::builtin().get("MatMulInteger");
  const ir::Graph graph = ops::case_graph(ir::Registry::builtin(), op, ops::parse_case(op, "u8[50,40] i8[40,70]!"));
  TacticRun run(cpu_matmul_int8(), graph, kAvx2);
  run.problem.body = &body;
  run.problem.in.insert(run.problem.in.end(), columns, {DType::f32, {ir::Dim(70)}});
  if (residual != DType::i32) run.problem.in.push_back({residual, {ir::Dim(50), ir::Dim(70)}});
  run.problem.out[0].dtype = to;
  EXPECT_TRUE(cpu::recognize_int8_form(run.problem, 1).has_value()) << ir::text(body);
}

TEST(MatmulInt8, IsExactForAnySigns) {
  for (const char* a : {"u8", "i8"}) {
    for (const char* b : {"u8", "i8"}) {
      const std::string ra = a[0] == 'u' ? "(0,255)" : "(-128,127)", rb = b[0] == 'u' ? "(0,255)" : "(-128,127)";
      for (const char* shape :
           {"1,1 1,1", "5,7 7,3", "48,64 64,32", "49,130 130,70", "2,31,33 33,129", "100,515 515,17", "7,1030 1030,40"}) {
        const std::string text(shape), as = text.substr(0, text.find(' ')), bs = text.substr(text.find(' ') + 1);
        const std::string base = cat(a, "[", as, "]", ra, " ", b, "[", bs, "]", rb, "!");
        check_int8(cpu_matmul_int8(), {"MatMulInteger", base}, 0);
        check_int8(cpu_matmul_int8(), {"MatMulInteger", cat(base, " ", a, "[]{", a[0] == 'u' ? "131" : "-7", "} ", b, "[]{5}")}, 0);
      }
    }
  }
}

TEST(MatmulInt8, ExtremesDoNotSaturate) {
  for (const char* a : {"u8[6,600](255,255)", "u8[6,600](0,0)", "i8[6,600](-128,-128)", "i8[6,600](127,127)"}) {
    for (const char* b : {"i8[600,33](-128,-128)!", "i8[600,33](127,127)!", "u8[600,33](255,255)!"}) {
      check_int8(cpu_matmul_int8(), {"MatMulInteger", cat(a, " ", b)}, 0);
    }
  }
}

TEST(MatmulInt8, ZeroPointsPerColumn) {
  check_int8(cpu_matmul_int8(), {"MatMulInteger", "u8[9,20](0,255) u8[20,5](0,255)! u8[]{250} u8[5]{0,1,128,200,255}"}, 0);
  check_int8(cpu_matmul_int8(), {"MatMulInteger", "i8[9,20](-128,127) i8[20,4](-128,127)! i8[1]{-128} i8[4]{0,-128,127,3}"}, 0);
}

TEST(MatmulInt8, EpiloguesOfLayers) {
  for (const DType to : {DType::f32, DType::u8, DType::i8}) {
    for (const DType residual : {DType::i32, DType::f32, DType::u8, DType::i8}) {
      for (const bool relu : {false, true}) {
        Int8Case c{"MatMulInteger", "u8[50,40](0,255) i8[40,70](-128,127)! u8[]{128}"};
        c.body = quantized_epilogue(to, 0.5, to == DType::u8 ? 100 : -3, residual, relu);
        c.extra = {"f32[70](0.0001,0.002)!", "f32[70](-3,3)!"};
        if (residual != DType::i32) c.extra.push_back(cat(name(residual), "[50,70]"));
        check_int8(cpu_matmul_int8(), c, to == DType::f32 ? 1e-4 : 1);
      }
    }
  }
}

// A residual sum after a result that is quantized for itself, as residual networks have it.
TEST(MatmulInt8, QuantizedMiddle) {
  for (const double zero : {0.0, 20.0}) {
    EpilogueBuilder b({DType::i32, DType::f32, DType::f32, DType::u8});
    const std::uint16_t residual = b.binary(ir::Prim::sub, b.cast(3, DType::f32), b.number(9));
    std::uint16_t y = b.on_grid(b.scaled(), 0.3, zero);
    y = b.binary(ir::Prim::add, b.binary(ir::Prim::mul, residual, b.number(0.5)), y);
    Int8Case c{"MatMulInteger", "u8[50,40](0,255) i8[40,70](-128,127)! u8[]{128}"};
    c.body = b.finish({b.quantized(b.binary(ir::Prim::max, y, b.number(0)), 0.4, 0, DType::u8)});
    c.extra = {"f32[70](0.0001,0.002)!", "f32[70](-3,3)!", "u8[50,70](0,255)"};
    check_int8(cpu_matmul_int8(), c, 1);
  }
}

// A normalization that was not folded: a result that is quantized for itself is scaled and shifted by column, quantized once more,
// and added to a residual, or not.
TEST(MatmulInt8, ScaledAgainAfterAGrid) {
  for (const bool residual : {false, true}) {
    for (const DType to : {DType::u8, DType::i8, DType::f32}) {
      std::vector<DType> inputs{DType::i32, DType::f32, DType::f32, DType::f32, DType::f32};
      if (residual) inputs.push_back(DType::u8);
      EpilogueBuilder b(inputs);
      std::uint16_t y = b.binary(ir::Prim::add, b.binary(ir::Prim::mul, b.on_grid(b.scaled(), 0.3, 120), 3), 4);
      if (residual) y = b.binary(ir::Prim::add, b.on_grid(y, 0.25, 100), b.binary(ir::Prim::mul, b.cast(5, DType::f32), b.number(0.5)));
      y = b.binary(ir::Prim::max, y, b.number(0));
      if (to != DType::f32) y = b.quantized(y, 0.4, 0, to);
      Int8Case c{"MatMulInteger", "u8[50,40](0,255) i8[40,70](-128,127)! u8[]{128}"};
      c.body = b.finish({y});
      c.extra = {"f32[70](0.0001,0.002)!", "f32[70](-3,3)!", "f32[70](0.5,1.5)!", "f32[70](-3,3)!"};
      if (residual) c.extra.push_back("u8[50,70](0,255)");
      check_int8(cpu_matmul_int8(), c, to == DType::f32 ? 0.5 : 2);
      expect_recognized(*c.body, to, 4, residual ? DType::u8 : DType::i32);
    }
  }
}

TEST(MatmulInt8, RecognizesTheUsualEpilogues) {
  for (const DType residual : {DType::i32, DType::f32, DType::u8})
    for (const DType to : {DType::f32, DType::u8, DType::i8})
      expect_recognized(quantized_epilogue(to, 0.5, 3, residual, true), to, 2, residual);
}

// Quantized with its residual and dequantized again, as before a step that is not quantized.
TEST(MatmulInt8, OnAGridAfterTheResidual) {
  for (const DType grid : {DType::u8, DType::i8}) {
    for (const double zero : {0.0, 100.0}) {
      for (const bool relu : {false, true}) {
        EpilogueBuilder b({DType::i32, DType::f32, DType::f32, DType::u8});
        std::uint16_t y = b.scaled();
        y = b.binary(ir::Prim::add, b.binary(ir::Prim::mul, b.cast(3, DType::f32), b.number(0.05)), y);
        if (relu) y = b.binary(ir::Prim::max, y, b.number(0));
        Int8Case c{"MatMulInteger", "u8[50,40](0,255) i8[40,70](-128,127)! u8[]{128}"};
        c.body = b.finish({b.on_grid(y, 0.1, zero, grid)});
        c.extra = {"f32[70](0.00001,0.0002)!", "f32[70](-3,3)!", "u8[50,70](0,255)"};
        c.out = DType::f32;
        check_int8(cpu_matmul_int8(), c, 0.101);
        expect_recognized(*c.body, DType::f32, 2, DType::u8);
      }
    }
  }
}

// As torch writes it, and by a factor instead of a divisor.
TEST(MatmulInt8, GeluAfterTheProduct) {
  for (const bool divides : {false, true}) {
    for (const DType to : {DType::f32, DType::u8, DType::i8}) {
      EpilogueBuilder b({DType::i32, DType::f32, DType::f32});
      const std::uint16_t x = b.scaled();
      const std::uint16_t inner =
          divides ? b.binary(ir::Prim::div, x, b.number(1.4142135381698608)) : b.binary(ir::Prim::mul, x, b.number(0.70710678));
      const std::uint16_t twice = b.binary(ir::Prim::mul, x, b.binary(ir::Prim::add, b.unary(ir::Prim::erf, inner), b.number(1)));
      std::uint16_t y = b.binary(ir::Prim::mul, twice, b.number(0.5));
      if (to != DType::f32) y = b.quantized(y, 0.02, to == DType::u8 ? 16 : 0, to);
      Int8Case c{"MatMulInteger", "u8[50,40](0,255) i8[40,70](-128,127)! u8[]{128}"};
      c.body = b.finish({y});
      c.extra = {"f32[70](0.00001,0.0001)!", "f32[70](-3,3)!"};
      c.out = to;
      check_int8(cpu_matmul_int8(), c, to == DType::f32 ? 1e-5 : 1);
      expect_recognized(*c.body, to, 2);
    }
  }
}

// Rows that were quantized as they ran have scales of their own: with the epilogues of layers, and shapes around the tile sizes.
TEST(MatmulInt8, RowsWithScalesOfTheirOwn) {
  enum Kind { plain, relu, residual, gelu };
  for (const Kind kind : {plain, relu, residual, gelu}) {
    for (const char* shape : {"50,40 40,70", "1,64 64,33", "13,1030 1030,40", "97,32 32,64"}) {
      const std::string text(shape), as = text.substr(0, text.find(' ')), bs = text.substr(text.find(' ') + 1);
      const std::string rows = as.substr(0, as.find(',')), columns = bs.substr(bs.find(',') + 1);
      std::vector<DType> inputs{DType::i32, DType::f32, DType::f32, DType::f32};
      if (kind == residual) inputs.push_back(DType::f32);
      EpilogueBuilder b(inputs);
      std::uint16_t y = b.binary(ir::Prim::mul, b.binary(ir::Prim::mul, b.cast(0, DType::f32), 1), 2);
      y = b.binary(ir::Prim::add, y, 3);
      if (kind == relu) y = b.binary(ir::Prim::max, y, b.number(0));
      if (kind == residual) y = b.binary(ir::Prim::add, y, 4);
      if (kind == gelu)
        y = b.binary(ir::Prim::mul, b.binary(ir::Prim::mul, y, b.number(0.5)),
                     b.binary(ir::Prim::add, b.unary(ir::Prim::erf, b.binary(ir::Prim::mul, y, b.number(0.70710678))), b.number(1)));
      Int8Case c{"MatMulInteger", cat("u8[", as, "](0,255) i8[", bs, "](-127,127)! u8[]{128}")};
      c.body = b.finish({y});
      c.extra = {cat("f32[", rows, ",1](0.001,0.04)"), cat("f32[", columns, "](0.0001,0.001)!"), cat("f32[", columns, "](-3,3)!")};
      if (kind == residual) c.extra.push_back(cat("f32[", rows, ",", columns, "](-9,9)"));
      c.out = DType::f32;
      check_int8(cpu_matmul_int8(), c, 1e-3);
      if (rows != "50") continue;
      const ir::OpDef& op = ir::Registry::builtin().get("MatMulInteger");
      const ir::Graph graph = ops::case_graph(ir::Registry::builtin(), op, ops::parse_case(op, "u8[50,40] i8[40,70]! u8[]{128}"));
      TacticRun run(cpu_matmul_int8(), graph, kAvx2);
      run.problem.body = &*c.body;
      run.problem.in.push_back({DType::f32, {ir::Dim(50), ir::Dim(1)}});
      run.problem.in.insert(run.problem.in.end(), 2, {DType::f32, {ir::Dim(70)}});
      if (kind == residual) run.problem.in.push_back({DType::f32, {ir::Dim(50), ir::Dim(70)}});
      run.problem.out[0].dtype = DType::f32;
      const auto form = cpu::recognize_int8_form(run.problem, 1);
      ASSERT_TRUE(form.has_value()) << "an epilogue of rows fell back to the block executor";
      EXPECT_EQ(form->rows, 1);
    }
  }
}

// What the fused epilogue does not know runs in the block executor.
TEST(MatmulInt8, AnyOtherEpilogue) {
  ir::BodyBuilder b({DType::i32, DType::f32});
  const std::uint16_t y = b.binary(ir::Prim::mul, b.cast(0, DType::f32), 1);
  const ir::Body body = b.finish({b.binary(ir::Prim::mul, b.unary(ir::Prim::tanh, y), y)});
  Int8Case c{"MatMulInteger", "i8[2,50,40](-128,127) i8[40,70](-128,127)! i8[]{3}"};
  c.body = body;
  c.extra = {"f32[70](0.0001,0.002)!"};
  check_int8(cpu_matmul_int8(), c, 1e-3);
}

TEST(MatmulInt8, RefusesWhatItCannotDo) {
  const auto verdict = [](const char* text) {
    const ir::OpDef& op = ir::Registry::builtin().get("MatMulInteger");
    const ir::Graph g = ops::case_graph(ir::Registry::builtin(), op, ops::parse_case(op, text));
    return cpu_matmul_int8().supports(TacticRun(cpu_matmul_int8(), g, kAvx2).problem).reason;
  };
  EXPECT_EQ(verdict("u8[2,3] i8[3,2]"), "the second operand is not constant");
  EXPECT_EQ(verdict("u8[2,3] i8[3,2]! u8[2]{1,2}"), "the zero point differs between rows");
}

// Values far beyond bytes, and beyond 32 bits, still saturate on the right side.
TEST(MatmulInt8, SaturatesWhatIsLarge) {
  for (const char* scale : {"f32[70](-30,30)!", "f32[70](-1e12,1e12)!"}) {
    for (const DType to : {DType::u8, DType::i8}) {
      Int8Case c{"MatMulInteger", "i8[5,64](-128,127) i8[64,70](-128,127)! i8[]{3}"};
      c.body = quantized_epilogue(to, 0.05, to == DType::u8 ? 128 : 0);
      c.extra = {scale, "f32[70](-3,3)!"};
      check_int8(cpu_matmul_int8(), c, 1);
    }
  }
}

}  // namespace
}  // namespace tenfold::backends
