// Every mode of a product of bf16, on odd sizes, against sums of double: by portable kernels on any CPU, by AMX's where it is.
#include <cmath>
#include <random>

#include "backends/cpu/gemm/bf16/bf16_matrix.h"
#include "backends/cpu/gemm/bf16/gemm_bf16.h"
#include "backends/cpu/gemm/bf16/gemm_bf16_for_tests.h"
#include "backends/cpu/tactics/f32_for_tests.h"

namespace tenfold::backends::cpu {
namespace {

using namespace testing;

enum class Rows { in_place, packed, spread, windows };   // spread: packed, and every second row of C is a result

struct Case {
  Rows rows;
  int terms;
  bool panels_inside, simple;
  std::int64_t pieces;   // of k
  DType out;
  std::int64_t count, k, n;   // windows: `count` positions in a line
  std::int64_t lines = 1, planes = 1, high = 1, wide = 1;   // of windows

  DType in() const { return terms == 1 ? out : DType::f32; }
  std::int64_t taps() const { return high * wide; }
  std::int64_t results() const { return planes * lines * count; }
  std::int64_t c_rows() const { return rows == Rows::spread ? 2 * results() : results(); }
  std::string text() const {
    return cat("A ", static_cast<int>(rows), ", ", terms, " terms, panels ", panels_inside ? "inside" : "outside",
               simple ? ", simple" : ", general", " epilogue, k in ", pieces, ", out ", name(out), ", ", planes, "x", lines, "x", count,
               " rows, k ", taps(), "x", k, ", n ", n);
  }
};

// Numbers of few bits: their products add up without rounding.
float coarse(std::mt19937& random) { return static_cast<float>(static_cast<int>(random() % 65) - 32) / 16; }
float value(std::mt19937& random, int terms) {
  return terms == 1 ? coarse(random) : std::uniform_real_distribution<float>(-1, 1)(random);
}
std::vector<float> values(std::int64_t count, int terms, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> all(static_cast<std::size_t>(count));
  for (float& v : all) v = value(random, terms);
  return all;
}
Tensor tensor(DType type, Shape shape, const std::vector<float>& from) {
  Tensor t(type, std::move(shape));
  for (std::int64_t i = 0; i < t.size(); ++i) {
    if (type == DType::f32) t.mutable_data<float>()[i] = from[static_cast<std::size_t>(i)];
    else static_cast<std::uint16_t*>(t.mutable_raw())[i] = round_to_bf16(from[static_cast<std::size_t>(i)]);
  }
  return t;
}

// The problem of the epilogue: + bias + residual, at least 0; or times a tensor, which takes the block executor.
F32Case problem_of(const Case& c) {
  const std::string t(name(c.in())), matrix = "[" + std::to_string(c.c_rows()) + "," + std::to_string(c.n) + "]";
  const std::string text = t + "[" + std::to_string(c.c_rows()) + "," + std::to_string(c.k) + "] " + t + "[" + std::to_string(c.k) + "," +
                           std::to_string(c.n) + "]!" + (c.terms == 1 && t == "f32" ? " numerics={round_to=bf16}" : "");
  std::string body = "(f32,f32,f32) %3=add.f32(%0,%1) %4=add.f32(%2,%3) %5=constant.f32(0) %6=max.f32(%4,%5) -> %6";
  if (!c.simple) body = "(f32,f32) %2=mul.f32(%0,%1) -> %2";
  for (std::size_t at; t != "f32" && (at = body.find("f32")) != std::string::npos;) body.replace(at, 3, t);
  return {"MatMul", text, body, c.simple ? std::vector<std::string>{t + "[" + std::to_string(c.n) + "]!", t + matrix}
                                         : std::vector<std::string>{t + matrix}};
}

class Product {
 public:
  explicit Product(const Case& c)
      : c_(c), problem_(problem_of(c)), run_(cpu_tactic(), problem_.graph, AmxOrPortable::features()), epilogue_(run_.problem, 1),
        w_{.taps = c.taps(), .k = c.k, .n = c.n, .type = c.in(), .terms = c.terms}, plan_(w_, a_of(c), loops_of(c), epilogue_, c.pieces) {
    const std::int64_t positions = c.rows == Rows::windows ? plane_positions() * c.planes : c.results();
    a_ = values(positions * c.k, c.terms, 1), b_ = values(c.taps() * c.k * c.n, c.terms, 2);
    bias_ = values(c.n, 1, 3), extra_ = values(c.c_rows() * c.n, 1, 4);
    EXPECT_EQ(epilogue_.simple(), c.simple);
  }

  void check() {
    multiply();
    const double tolerance = c_.terms == 1 ? 0 : c_.terms == 2 ? 2e-5 : 1e-6;
    const std::int64_t step = c_.rows == Rows::spread ? 2 : 1;
    for (std::int64_t row = 0; row < c_.c_rows(); ++row)
      for (std::int64_t j = 0; j < c_.n; ++j) {
        const char* const at = out_ + (row * c_.n + j) * out_bytes();
        if (row % step != 0) {
          ASSERT_EQ(std::memcmp(at, "\xa5\xa5\xa5\xa5", static_cast<std::size_t>(out_bytes())), 0) << "wrote to row " << row;
          continue;
        }
        const auto [sum, size] = truth(row / step, j);
        if (c_.out == DType::f32) ASSERT_LE(std::abs(portable::load(at, 0, true) - sum), tolerance * size) << row << ' ' << j;
        else if (c_.simple)
          ASSERT_EQ(portable::load(at, 0, false), bf16_to_float(round_to_bf16(static_cast<float>(sum)))) << row << ' ' << j;
        else ASSERT_LE(std::abs(portable::load(at, 0, false) - sum), std::abs(sum) / 128) << row << ' ' << j;   // may be rounded twice
      }
    for (int i = 0; i < kGuard; ++i) {
      ASSERT_EQ(out_[-1 - i], kFill) << "wrote before C";
      ASSERT_EQ(scratch_[-1 - i], kFill) << "wrote before the scratch";
    }
  }
  const GemmBf16Plan& plan() const { return plan_; }

 private:
  static constexpr int kGuard = 256;
  static constexpr char kFill = '\xa5';
  static GemmBf16Plan::A a_of(const Case& c) {
    if (c.rows == Rows::windows) return GemmBf16Plan::A::windows;
    return Bf16Matrix::mode(c.in(), c.k, true);
  }
  static GemmBf16Plan::Loops loops_of(const Case& c) {
    return c.panels_inside ? GemmBf16Plan::Loops::panels_inside : GemmBf16Plan::Loops::panels_outside;
  }
  static Tactic cpu_tactic() { return {.name = "none", .ops = {"MatMul"}}; }

  std::int64_t out_bytes() const { return c_.out == DType::f32 ? 4 : 2; }
  std::int64_t pitch() const { return c_.count + c_.wide - 1; }   // positions of a line of the image
  std::int64_t plane_positions() const { return (c_.lines + c_.high - 1) * pitch(); }
  std::int64_t position_values() const { return w_.steps() * 32 * c_.terms; }

  // What an element of C should be, and how much was added up.
  std::pair<double, double> truth(std::int64_t row, std::int64_t j) const {
    double sum = 0, size = 0;
    for (std::int64_t tap = 0; tap < c_.taps(); ++tap) {
      std::int64_t position = row;
      if (c_.rows == Rows::windows) {
        const std::int64_t x = row % c_.count, y = row / c_.count % c_.lines, plane = row / c_.count / c_.lines;
        position = plane * plane_positions() + (y + tap / c_.wide) * pitch() + x + tap % c_.wide;
      }
      for (std::int64_t k = 0; k < c_.k; ++k) {
        const double term = double{a_[static_cast<std::size_t>(position * c_.k + k)]} *
                            double{b_[static_cast<std::size_t>((tap * c_.k + k) * c_.n + j)]};
        sum += term, size += std::abs(term);
      }
    }
    const std::int64_t c_row = c_.rows == Rows::spread ? 2 * row : row;
    const double bias = bias_[static_cast<std::size_t>(j)], extra = extra_[static_cast<std::size_t>(c_row * c_.n + j)];
    if (c_.simple) return {std::max(sum + bias + extra, 0.), size + 4};
    return {sum * extra, size * 2};
  }

  // Memory that ends at a page which may not be touched, behind bytes that must stay as they are.
  char* guarded(const void* from, std::int64_t bytes, std::int64_t alignment) {
    std::vector<char> all(static_cast<std::size_t>(kGuard + round_up(bytes, alignment)), kFill);
    if (from) std::memcpy(all.data() + kGuard, from, static_cast<std::size_t>(bytes));
    return static_cast<char*>(host_.place(all.data(), static_cast<std::int64_t>(all.size()), alignment, false)) + kGuard;
  }

  // The image's positions in bf16, in terms one after the other, each padded to whole steps.
  char* image() {
    const std::int64_t positions = plane_positions() * c_.planes, bytes = position_values() * 2;
    std::vector<char> copied(static_cast<std::size_t>((positions + 32) * bytes));   // tiles begin at any position
    gemm_bf16_kernels().copy({.from = reinterpret_cast<const char*>(a_.data()), .from_bytes = c_.k * 4, .wide = true, .rows = positions,
                              .count = c_.k, .padded = w_.steps() * 32, .to = copied.data(), .to_bytes = bytes, .terms = c_.terms,
                              .low = w_.steps() * 64});
    return guarded(copied.data(), static_cast<std::int64_t>(copied.size()), 64);
  }
  GemmBf16Rows windows() {
    const std::int64_t bytes = position_values() * 2;
    for (std::int64_t y = 0; y < c_.high; ++y)
      for (std::int64_t x = 0; x < c_.wide; ++x) taps_.push_back((y * pitch() + x) * bytes);
    GemmBf16Rows rows{.a = {.first = image(), .row_bytes = bytes, .count = (c_.lines - 1) * pitch() + c_.count,
                            .term_bytes = w_.steps() * 64, .taps = taps_.data()},
                      .c = {.line = c_.count, .pitch = pitch(), .line_step = c_.count, .plane_step = c_.lines * c_.count}};
    GemmBf16Windows windows{.planes = c_.planes, .plane_bytes = plane_positions() * bytes};
    if (c_.count % 16 == 0) {
      rows.a.count = c_.lines * c_.count, rows.c.pitch = c_.count;
      windows.line_bytes = pitch() * bytes, windows.line_rows = c_.count;
    }
    windows.next = {.at = rows.a.first, .count = 2, .bytes = 640, .stride = 1024};
    rows.a.mode = windows;
    return rows;
  }
  GemmBf16Rows matrix() {
    const Tensor a = tensor(c_.in(), {c_.results(), c_.k}, a_);
    const std::int64_t dims[] = {c_.results(), c_.k}, strides[] = {c_.k, 1};
    const MatrixRows where(Bound{.dims = dims, .strides = strides, .rank = 2}, 0, 1);
    EXPECT_EQ(plan_.a == GemmBf16Plan::A::in_place, c_.rows == Rows::in_place);
    char* const memory = guarded(nullptr, Bf16Matrix::copy_bytes(w_, plan_.a, c_.results()), 64);
    GemmBf16Rows rows = Bf16Matrix(guarded(a.raw(), a.bytes(), 2), c_.in(), where, plan_.a).rows(w_, 0, c_.results(), memory);
    if (c_.rows == Rows::spread) rows.c.line = rows.c.pitch = 20, rows.c.line_step = 40, rows.c.step = 2;   // as transposed convolutions do
    return rows;
  }

  void multiply() {
    const GemmBf16Rows rows = c_.rows == Rows::windows ? windows() : matrix();
    std::vector<char> packed(static_cast<std::size_t>(w_.bytes()));
    pack_bf16(w_, tensor(c_.in(), {c_.taps() * c_.k, c_.n}, b_), packed.data(),
              [&](std::int64_t tap, std::int64_t k, std::int64_t j) { return (tap * c_.k + k) * c_.n + j; });
    const char* const b = guarded(packed.data(), w_.bytes(), 64);
    bind();
    scratch_ = guarded(nullptr, plan_.scratch_bytes(c_.n, rows.a.count), 64);
    // The second part of columns begins at an odd panel where they are many.
    const std::int64_t cut = w_.panels() > 2 && w_.panels() % 2 != 0 ? w_.panels() / 2 : 0;
    for (const auto& [first, last] : {std::pair{std::int64_t{0}, cut}, {cut, w_.panels()}})
      if (first < last) gemm_bf16(plan_, {rows, b, first, last, epilogue_, bound_, scratch_});
  }
  void bind() {
    dims_ = {c_.c_rows(), c_.n}, strides_ = {c_.n, 1};
    const auto of = [&](void* data, int rank) {
      return Bound{.data = data, .dims = dims_.data() + 2 - rank, .strides = strides_.data() + 2 - rank, .rank = rank};
    };
    const auto place = [&](const Tensor& t) { return guarded(t.raw(), t.bytes(), byte_size(t.dtype(), 1)); };
    in_ = {of(nullptr, 2), of(nullptr, 2)};
    if (c_.simple) in_.push_back(of(place(tensor(c_.in(), {c_.n}, bias_)), 1));
    in_.push_back(of(place(tensor(c_.in(), {c_.c_rows(), c_.n}, extra_)), 2));
    out_ = guarded(nullptr, c_.c_rows() * c_.n * out_bytes(), out_bytes());
    const Bound out[] = {of(out_, 2)};
    epilogue_.bind({in_, out}, TileAxes::last(2), c_.n, bound_);
  }

  Case c_;
  F32Problem problem_;
  TacticRun run_;
  Bf16Epilogue epilogue_;
  GemmBf16B w_;
  GemmBf16Plan plan_;
  Serial serial_;
  OnHost host_{serial_};
  std::vector<float> a_, b_, bias_, extra_;
  std::vector<std::int64_t> taps_;
  std::array<std::int64_t, 2> dims_, strides_;
  std::vector<Bound> in_;
  Bf16Epilogue::Binding bound_;
  char *out_ = nullptr, *scratch_ = nullptr;
};

// f(case) for all of one kind of rows.
template <class F>
void for_each_case(Rows rows, F&& f) {
  const bool windows = rows == Rows::windows, in_place = rows == Rows::in_place;
  for (const int terms : {1, 2, 3})
    for (const bool inside : {false, true})
      for (const bool simple : {true, false})
        for (const std::int64_t pieces : {1, 3})
          for (const DType out : {DType::f32, DType::bf16})
            for (const auto& [count, k, n] :
                 {std::array<std::int64_t, 3>{3, 96, 5}, {37, 160, 70}, {64, 96, 128}, {200, 128, 96}, {5, 64, 576}}) {
              if (terms > 1 && (in_place || out == DType::bf16)) continue;
              if (in_place && out == DType::f32) continue;
              if (pieces > 1 && (windows || inside)) continue;
              if (rows == Rows::spread && !simple) continue;
              Case c{rows, terms, inside, simple, pieces, out, count, in_place ? k : k - 19, n};
              if (windows) c.count = count == 64 ? 32 : count % 32, c.lines = 3, c.planes = 2, c.high = 2, c.wide = 3, c.k = k / 4 - 3;
              c.pieces = std::min(pieces, ceil_div(c.k, std::int64_t{32}));
              f(c);
            }
}

void check(Rows rows) {
  int strips = 0, cases = 0;
  for_each_case(rows, [&](const Case& c) {
    SCOPED_TRACE(c.text());
    for (const bool amx : {false, true}) {
      if (amx && !has_amx()) continue;
      std::optional<portable::InPlaceOfAmx> kernels;
      if (!amx) kernels.emplace();
      Product product(c);
      product.check();
      strips += product.plan().micro_kernel == GemmBf16Plan::MicroKernel::strips, ++cases;
    }
  });
  EXPECT_GT(strips, 0);
  EXPECT_GT(cases, strips);
}

TEST(GemmBf16Modes, RowsInPlace) { check(Rows::in_place); }
TEST(GemmBf16Modes, PackedRows) { check(Rows::packed); }
TEST(GemmBf16Modes, RowsThatSpreadOverC) { check(Rows::spread); }
TEST(GemmBf16Modes, Windows) { check(Rows::windows); }

}  // namespace
}  // namespace tenfold::backends::cpu
