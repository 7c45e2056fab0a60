// The block executor against the interpreter of bodies and against the C library in double precision.
#include "backends/cpu/block/executor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "backends/cpu/cpu_info.h"
#include "base/types/element.h"
#include "ops/body_interpret.h"
#include "ops/cases.h"

namespace tenfold::backends::cpu {
namespace {

using ir::Body;
using ir::BodyBuilder;
using ir::Prim;

const DeviceInfo& device() { return this_cpu(); }

struct Scratch {
  explicit Scratch(std::int64_t bytes) : tensor(DType::u8, {bytes}) {}
  void* get() { return tensor.mutable_raw(); }
  Tensor tensor;
};

// Runs over the whole [rows x cols] space, cut into tiles of at most tile_rows x tile_cols.
std::vector<Tensor> run(const Body& body, const std::vector<Tensor>& in, std::int64_t rows, std::int64_t cols,
                        const std::vector<Shape>& shapes, std::int64_t tile_rows = 1 << 20, std::int64_t tile_cols = 1 << 20) {
  const BlockExecutor executor(body, device().features);
  Scratch scratch(executor.scratch_bytes());
  std::vector<Tensor> out;
  for (std::size_t j = 0; j < body.outputs.size(); ++j) out.emplace_back(body.type_of(body.outputs[j]), shapes[j]);
  for (std::int64_t r = 0; r < rows; r += tile_rows) {
    for (std::int64_t c = 0; c < cols; c += tile_cols) {
      std::vector<TileOperand> from;
      std::vector<TileResult> to;
      const auto place = [&](const Tensor& t) {
        const std::int64_t row = t.shape()[0] == 1 ? 0 : t.shape()[1], col = t.shape()[1] == 1 ? 0 : 1;
        return TileOperand{static_cast<const char*>(t.raw()) + (r * row + c * col) * bits(t.dtype()) / 8, row, col};
      };
      for (const Tensor& t : in) from.push_back(place(t));
      for (Tensor& t : out) {
        const TileOperand p = place(t);
        to.push_back({const_cast<void*>(p.data), p.row_stride, p.col_stride});
      }
      executor.run(std::min(tile_rows, rows - r), std::min(tile_cols, cols - c), from, to, scratch.get());
    }
  }
  return out;
}

std::vector<Tensor> interpret(const Body& body, const std::vector<Tensor>& in, const std::vector<Shape>& shapes) {
  std::vector<Tensor> out;
  std::vector<ir::TensorRef> from, to;
  for (const Tensor& t : in) from.push_back({t.dtype(), t.shape(), const_cast<void*>(t.raw())});
  for (std::size_t j = 0; j < body.outputs.size(); ++j) out.emplace_back(body.type_of(body.outputs[j]), shapes[j]);
  for (Tensor& t : out) to.push_back({t.dtype(), t.shape(), t.mutable_raw()});
  ops::interpret_body(body, from, to);
  return out;
}

void expect_close(const Tensor& got, const Tensor& expected, double tolerance, const std::string& what) {
  ASSERT_EQ(got.dtype(), expected.dtype());
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    const double g = got.as_double(i), w = expected.as_double(i);
    if (std::isnan(w) && std::isnan(g)) continue;
    if (g == w) continue;
    ASSERT_LE(std::fabs(g - w), tolerance * (1 + std::fabs(w))) << what << " element " << i << ": " << g << " instead of " << w;
  }
}
double tolerance_of(DType t) {
  return t == DType::f16 ? 2e-3 : t == DType::bf16 ? 2e-2 : t == DType::f32 ? 2e-6 : t == DType::f64 ? 1e-12 : 0;
}

// Values at and beyond the edges of what a primitive is defined on.
Tensor special_values(DType type, std::uint64_t seed, std::int64_t count) {
  Tensor t = ops::random_tensor(type, {1, count}, seed, is_float(type) ? -4 : -8, is_float(type) ? 4 : 8);
  if (!is_float(type)) return t;
  const double edge[] = {0,
                         -0.0,
                         1,
                         -1,
                         0.5,
                         1e-3,
                         -1e-3,
                         20,
                         -20,
                         1000,
                         -1000,
                         std::numeric_limits<double>::infinity(),
                         -std::numeric_limits<double>::infinity(),
                         std::nan("")};
  for (std::size_t i = 0; i < std::size(edge); ++i)
    store_double(type, t.mutable_raw(), static_cast<std::int64_t>((i * (seed + 3)) % static_cast<std::size_t>(count)), edge[i]);
  return t;
}

TEST(BlockExecutor, EveryPrimitiveOfEveryTypeAgreesWithTheInterpreter) {
  int tried = 0;
  for (DType type : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i64, DType::i32, DType::i16, DType::i8, DType::u64, DType::u32,
                     DType::u16, DType::u8, DType::boolean}) {
    for (int p = static_cast<int>(Prim::neg); p <= static_cast<int>(Prim::fma); ++p) {
      const Prim prim = static_cast<Prim>(p);
      const int operands = ir::arity(prim);
      BodyBuilder b(prim == Prim::select ? std::vector<DType>{DType::boolean, type, type}
                                         : std::vector<DType>(static_cast<std::size_t>(operands), type));
      std::uint16_t v;
      if (prim == Prim::select)
        v = b.select(0, 1, 2);
      else if (prim == Prim::fma)
        v = b.emit({.prim = prim, .dtype = type, .a = 0, .b = 1, .c = 2});
      else
        v = operands == 1 ? b.unary(prim, 0) : b.binary(prim, 0, 1);
      const Body body = b.finish({v});
      if (!BlockExecutor::supports(body)) continue;
      const std::int64_t n = 37;
      std::vector<Tensor> in;
      for (std::size_t i = 0; i < body.inputs.size(); ++i) in.push_back(special_values(body.inputs[i], i + 1, n));
      const std::string what = ir::text(body);
      expect_close(run(body, in, 1, n, {{1, n}})[0], interpret(body, in, {{1, n}})[0], tolerance_of(type), what);
      ++tried;
      if (operands < 2) continue;
      in.back() = ops::random_tensor(in.back().dtype(), {1, 1}, 5);  // a scalar operand takes another loop
      expect_close(run(body, in, 1, n, {{1, n}})[0], interpret(body, in, {{1, n}})[0], tolerance_of(type), what + " scalar last");
      std::swap(in.back(), in[in.size() - 2]);
      expect_close(run(body, in, 1, n, {{1, n}})[0], interpret(body, in, {{1, n}})[0], tolerance_of(type), what + " scalar before");
    }
  }
  EXPECT_GT(tried, 250);
}

TEST(BlockExecutor, CastsAndSaturationAgreeWithTheInterpreter) {
  const DType types[] = {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i64, DType::i32,    DType::i16,
                         DType::i8,  DType::u64, DType::u32, DType::u16,  DType::u8,  DType::boolean};
  for (DType from : types) {
    for (DType to : types) {
      Tensor in = special_values(from, 2, 45);
      if (is_float(from))
        for (int i = 0; i < 20; ++i) store_double(from, in.mutable_raw(), i, (i - 10) * 27.5);
      BodyBuilder b({from});
      const Body cast = b.finish({b.cast(0, to)});
      expect_close(run(cast, {in}, 1, 45, {{1, 45}})[0], interpret(cast, {in}, {{1, 45}})[0], tolerance_of(to), ir::text(cast));
      if (!is_integer(to) || from == DType::boolean) continue;
      BodyBuilder s({from});
      const Body saturate = s.finish({s.emit({.prim = Prim::saturate, .dtype = to, .a = 0})});
      expect_close(run(saturate, {in}, 1, 45, {{1, 45}})[0], interpret(saturate, {in}, {{1, 45}})[0], 0, ir::text(saturate));
    }
  }
}

// A random body over f32 with booleans and integers in between.
Body random_body(std::mt19937& random, int inputs) {
  BodyBuilder b(std::vector<DType>(static_cast<std::size_t>(inputs), DType::f32));
  std::vector<std::uint16_t> floats;
  for (int i = 0; i < inputs; ++i) floats.push_back(static_cast<std::uint16_t>(i));
  const auto any = [&] { return floats[random() % floats.size()]; };
  const int length = 1 + static_cast<int>(random() % 12);
  for (int i = 0; i < length; ++i) {
    switch (random() % 9) {
      case 0: floats.push_back(b.unary(random() % 2 ? Prim::tanh : Prim::sigmoid, any())); break;
      case 1: floats.push_back(b.unary(random() % 2 ? Prim::neg : Prim::abs, any())); break;
      case 2: floats.push_back(b.binary(Prim::add, any(), any())); break;
      case 3: floats.push_back(b.binary(Prim::mul, b.unary(Prim::tanh, any()), any())); break;
      case 4: floats.push_back(b.binary(Prim::max, any(), b.constant(DType::f32, random() % 2 ? 0 : 0.25))); break;
      case 5: floats.push_back(b.select(b.binary(Prim::lt, any(), any()), any(), any())); break;
      case 6: floats.push_back(b.cast(b.emit({.prim = Prim::saturate, .dtype = DType::i8, .a = any()}), DType::f32)); break;
      case 7: floats.push_back(b.binary(Prim::add, b.binary(Prim::mul, any(), any()), any())); break;
      default: floats.push_back(b.binary(Prim::sub, any(), b.constant(DType::f32, 1.5))); break;
    }
  }
  return b.finish(random() % 3 ? std::vector<std::uint16_t>{floats.back()} : std::vector<std::uint16_t>{floats.back(), any()});
}

TEST(BlockExecutor, RandomBodiesAgreeAndDoNotDependOnTiles) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const int inputs = 1 + static_cast<int>(random() % 4);
    const Body body = random_body(random, inputs);
    const std::int64_t rows = 1 + random() % 9, cols = random() % 4 ? 1 + random() % 70 : 900 + random() % 900;
    std::vector<Tensor> in;
    for (int i = 0; i < inputs; ++i) {
      const Shape shape{i && random() % 2 ? 1 : rows, i && random() % 2 ? 1 : cols};
      in.push_back(ops::random_tensor(DType::f32, shape, random(), -3, 3));
    }
    const std::vector<Shape> shapes(body.outputs.size(), {rows, cols});
    const std::vector<Tensor> whole = run(body, in, rows, cols, shapes);
    const std::vector<Tensor> expected = interpret(body, in, shapes);
    const std::vector<Tensor> tiles =
        run(body, in, rows, cols, shapes, 1 + static_cast<std::int64_t>(random() % 4), 1 + static_cast<std::int64_t>(random() % 40));
    for (std::size_t j = 0; j < expected.size(); ++j) {
      // Steps (saturate, lt) may fall on either side of a rounding: a few elements may differ, never the tiled from the whole.
      std::int64_t far = 0;
      for (std::int64_t i = 0; i < expected[j].size(); ++i)
        far += std::fabs(whole[j].as_double(i) - expected[j].as_double(i)) > 1e-5 * (1 + std::fabs(expected[j].as_double(i)));
      EXPECT_LE(far, expected[j].size() / 200) << ir::text(body);
      EXPECT_EQ(std::memcmp(whole[j].raw(), tiles[j].raw(), static_cast<std::size_t>(whole[j].bytes())), 0) << ir::text(body);
    }
  }
}

Body softmax_body() {  // and the sum of exponentials as a second output
  return ir::parse_body(
      "(f32) %1=reduce_max.f32(%0) %2=sub.f32(%0,%1) %3=exp.f32(%2) %4=reduce_sum.f32(%3) %5=div.f32(%3,%4) over=1 -> %5 %4");
}

TEST(BlockExecutor, ReductionsRunInOnePassOrSeveral) {
  const Body body = softmax_body();
  for (std::int64_t cols : {1, 5, 33, 384, 2048, 2049, 5000}) {
    const Tensor in = ops::random_tensor(DType::f32, {3, cols}, 4, -5, 5);
    const std::vector<Shape> shapes{{3, cols}, {3, 1}};
    const std::vector<Tensor> got = run(body, {in}, 3, cols, shapes), expected = interpret(body, {in}, shapes);
    expect_close(got[0], expected[0], 2e-6, cat("softmax of ", cols));
    expect_close(got[1], expected[1], 1e-5, cat("sum of ", cols));
  }
}

TEST(BlockExecutor, WorksInPlaceWithSeveralOutputs) {
  const Body body = ir::parse_body("(f32,f32) %2=add.f32(%0,%1) %3=mul.f32(%0,%1) -> %2 %3");
  const BlockExecutor executor(body, device().features);
  Scratch scratch(executor.scratch_bytes());
  std::vector<float> x(3000), y(3000), a, c;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i), y[i] = 0.5f * static_cast<float>(i) - 3;
  a = x;
  c = y;
  const TileOperand in[] = {{a.data(), 3000, 1}, {c.data(), 3000, 1}};
  const TileResult out[] = {{a.data(), 3000, 1}, {c.data(), 3000, 1}};
  executor.run(1, 3000, in, out, scratch.get());
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(a[i], x[i] + y[i]);
    ASSERT_EQ(c[i], x[i] * y[i]);
  }
}

// Channels-last with few channels: operands of one short row, of one column, whole ones and a number, over blocks that end inside a row.
TEST(BlockExecutor, ShortRowsThatRepeat) {
  BodyBuilder b({DType::f32, DType::f32, DType::u8, DType::f32});
  const Body body = b.finish({b.binary(Prim::add, b.binary(Prim::mul, 0, 1), b.binary(Prim::mul, b.cast(2, DType::f32), 3))});
  std::mt19937 random(5);
  for (const std::int64_t cols : {1, 2, 3, 7, 16, 31, 47, 48, 60})
    for (const std::int64_t rows : {1, 2, 37, 700}) {
      std::vector<Tensor> in{Tensor(DType::f32, {rows, cols}), Tensor(DType::f32, {1, cols}), Tensor(DType::u8, {1, cols}),
                             Tensor(DType::f32, {1, 1})};
      for (Tensor& t : in)
        for (std::int64_t i = 0; i < t.size(); ++i)
          t.dtype() == DType::u8 ? void(t.mutable_data<std::uint8_t>()[i] = static_cast<std::uint8_t>(random() % 9))
                                 : void(t.mutable_data<float>()[i] = static_cast<float>(random() % 64) / 8 - 4);
      const std::vector<Tensor> y = run(body, in, rows, cols, {{rows, cols}}), truth = interpret(body, in, {{rows, cols}});
      EXPECT_EQ(0, std::memcmp(y[0].raw(), truth[0].raw(), static_cast<std::size_t>(y[0].bytes()))) << rows << " x " << cols;
    }
}

TEST(BlockExecutor, GathersAndScattersStridedColumns) {
  const Body body = ir::parse_body("(f32,f32) %2=add.f32(%0,%1) -> %2");
  const BlockExecutor executor(body, device().features);
  Scratch scratch(executor.scratch_bytes());
  std::vector<float> x(7 * 11), y(11), z(7 * 11);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = 100.f * static_cast<float>(i);
  const TileOperand in[] = {{x.data(), 1, 7}, {y.data(), 0, 1}};  // x transposed
  const TileResult out[] = {{z.data(), 1, 7}};
  executor.run(7, 11, in, out, scratch.get());
  for (int r = 0; r < 7; ++r)
    for (int c = 0; c < 11; ++c)
      ASSERT_EQ(z[static_cast<std::size_t>(c * 7 + r)], x[static_cast<std::size_t>(c * 7 + r)] + y[static_cast<std::size_t>(c)]);
}

TEST(BlockExecutor, GeluIsAsPreciseAsItsResult) {
  const std::int64_t n = 40013;
  for (const char* text : {"(bf16) %1=constant.bf16(0.70703125) %2=mul.bf16(%0,%1) %3=erf.bf16(%2) %4=constant.bf16(1) %5=add.bf16(%3,%4) "
                           "%6=mul.bf16(%0,%5) %7=constant.bf16(0.5) %8=mul.bf16(%6,%7) -> %8",
                           "(f32) %1=constant.f32(0.70710678) %2=mul.f32(%0,%1) %3=erf.f32(%2) %4=constant.f32(1) %5=add.f32(%3,%4) "
                           "%6=mul.f32(%0,%5) %7=constant.f32(0.5) %8=mul.f32(%6,%7) %9=cast.bf16(%8) -> %9"}) {
    const Body body = ir::parse_body(text);
    Tensor in(body.inputs[0], {1, n});
    for (std::int64_t i = 0; i < n; ++i) store_double(in.dtype(), in.mutable_raw(), i, -12 + 24. * static_cast<double>(i) / n);
    const Tensor out = run(body, {in}, 1, n, {{1, n}})[0];
    for (std::int64_t i = 0; i < n; ++i) {
      const double x = in.as_double(i), expected = 0.5 * x * std::erfc(-x * std::sqrt(0.5));
      const double off = x < -4 ? 1e-4 : 1.5e-3 * std::fabs(expected);  // beside the rounding
      ASSERT_NEAR(out.as_double(i), expected, off + std::fabs(expected) / 256) << text << " at " << x;
    }
  }
}

TEST(BlockExecutor, ElementaryFunctionsAreAccurate) {
  struct Function {
    const char* name;
    double (*f)(double);
    double low, high, relative;
  };
  const Function functions[] = {
      {"exp", [](double x) { return std::exp(x); }, -87, 88.7, 3e-7},
      {"log", [](double x) { return std::log(x); }, 1e-30, 1e30, 3e-7},
      {"log", [](double x) { return std::log(x); }, 0.5, 2, 4e-7},
      {"erf", [](double x) { return std::erf(x); }, -6, 6, 5e-7},
      {"erf", [](double x) { return std::erf(x); }, -1e-3, 1e-3, 5e-7},
      {"tanh", [](double x) { return std::tanh(x); }, -12, 12, 5e-7},
      {"tanh", [](double x) { return std::tanh(x); }, -1e-4, 1e-4, 5e-7},
      {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }, -80, 80, 4e-7},
  };
  for (const Function& f : functions) {
    const Body body = ir::parse_body(cat("(f32) %1=", f.name, ".f32(%0) -> %1"));
    const std::int64_t n = 200001;
    Tensor in(DType::f32, {1, n});
    for (std::int64_t i = 0; i < n; ++i) {
      const double t = static_cast<double>(i) / static_cast<double>(n - 1);
      in.mutable_data<float>()[i] =
          static_cast<float>(f.low > 0 && f.high / f.low > 1e6 ? f.low * std::pow(f.high / f.low, t) : f.low + (f.high - f.low) * t);
    }
    const Tensor out = run(body, {in}, 1, n, {{1, n}})[0];
    double worst = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double expected = f.f(in.data<float>()[i]), got = out.data<float>()[i];
      if (expected != 0) worst = std::max(worst, std::fabs(got - expected) / std::fabs(expected));
    }
    EXPECT_LE(worst, f.relative) << f.name << " on [" << f.low << ", " << f.high << "]";
  }
}

}  // namespace
}  // namespace tenfold::backends::cpu
