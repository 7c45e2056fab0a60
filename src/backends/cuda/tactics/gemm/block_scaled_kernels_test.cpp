// The kernels of block_scaled_*.cu as they are written, run on the host thread by thread: every lane's loads, what warps multiply, waits,
// and ends of rows and columns, against sums in f64 of what the tactics packed. What the host has instead of PTX is in
// kernels_on_host_for_tests.h. Operands end where memory ends.
#define ON_HOST
#define CONFIGURED
#include "backends/cuda/kernels_on_host_for_tests.h"

#include "backends/cuda/tactics/gemm/block_scaled_common.h"
#include "backends/cuda/tactics/one_node_for_tests.h"
#include "base/types/element.h"

#if defined(__SANITIZE_THREAD__)
#define TENFOLD_FIBERS 0   // which that does not know
#else
#define TENFOLD_FIBERS 1
#endif
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"

#include "backends/cuda/kernels/lib/vectors.cuh"

namespace tenfold::backends {

Tactic cuda_matmul_block_scaled_few();

namespace {

using namespace cuda;
using on_host::Block;
using std::int64_t;

struct KernelCase {
  const char* name;
  DType type, weight;
  bool zeros;
  int64_t n, k, block;
  bool norm = false;   // with a scale in f32
  std::optional<FewRowsTile> few_tile = {};
  std::optional<ManyRowsTile> many_tile = {};
  bool by_vectors = false;   // of many
  void (*kernels[2])(BlockScaledArguments);
  void* shared = nullptr;
  int shared_bytes = 0;
  int rows, columns, threads;   // of a block
};

// Of values that the kernels promise to have exactly.
std::uint16_t exact_bf16(float x) {
  const std::uint16_t y = float_to_bf16(x);
  EXPECT_EQ(bf16_to_float(y), x);
  return y;
}
std::uint32_t exact_pairs(std::uint32_t a, std::uint32_t b, std::uint32_t c, bool bf16) {
  std::uint32_t both = 0;
  for (int half = 0; half < 32; half += 16) {
    const auto value = [&](std::uint32_t x) {
      const auto own = static_cast<std::uint16_t>(x >> half);
      return bf16 ? bf16_to_float(own) : half_to_float(own);
    };
    const float result = value(a) * value(b) + value(c);
    const std::uint16_t stored = bf16 ? float_to_bf16(result) : float_to_half(result);
    EXPECT_EQ(bf16 ? bf16_to_float(stored) : half_to_float(stored), result);
    EXPECT_EQ(result, std::round(result));
    both |= static_cast<std::uint32_t>(stored) << half;
  }
  return both;
}

}  // namespace
}  // namespace tenfold::backends

#define TENFOLD_TEXT_OF(x) #x
#define TENFOLD_TEXT(x) TENFOLD_TEXT_OF(x)
#define FEW 1
#define MANY 2
#define EACH 3
#define HALF 16
#define BRAIN 17
#define SINGLE 32

#define CASE few_f16_i4
#define SPEC FEW, HALF, 4, 1, 0
#define SIZE 40, 200, 128
#define TILE 1, 1, 4
#include "backends/cuda/tactics/gemm/block_scaled_case_for_tests.h"
#define CASE few_f16_u4_zeros
#define SPEC FEW, HALF, 4, 0, 1
#define SIZE 37, 333, 32
#define TILE 1, 2, 4
#include "backends/cuda/tactics/gemm/block_scaled_case_for_tests.h"
#define CASE few_bf16_u4
#define SPEC FEW, BRAIN, 4, 0, 0
#define SIZE 20, 132, 16
#define TILE 2, 1, 4
#include "backends/cuda/tactics/gemm/block_scaled_case_for_tests.h"
#define CASE few_bf16_i4_one_block
#define SPEC FEW, BRAIN, 4, 1, 1
#define SIZE 70, 2101, 2101
#define TILE 1, 4, 8
#include "backends/cuda/tactics/gemm/block_scaled_case_for_tests.h"
#define CASE few_f16_u8_zeros
#define SPEC FEW, HALF, 8, 0, 1
#define SIZE 33, 612, 96
#define TILE 2, 2, 8
#include "backends/cuda/tactics/gemm/block_scaled_case_for_tests.h"
#define CASE few_bf16_i8
#define SPEC FEW, BRAIN, 8, 1, 1
#define SIZE 17, 100, 16
#define TILE 1, 1, 4
#include "backends/cuda/tactics/gemm/block_scaled_case_for_tests.h"
#define CASE few_f32_i4
#define SPEC FEW, SINGLE, 4, 1, 0
#define SIZE 31, 500, 48
#define TILE 1, 2, 4
#include "backends/cuda/tactics/gemm/block_scaled_case_for_tests.h"
#define CASE few_f32_u8_zeros
#define SPEC FEW, SINGLE, 8, 0, 1
#define SIZE 16, 77, 32
#define TILE 1, 1, 16
#include "backends/cuda/tactics/gemm/block_scaled_case_for_tests.h"
#define CASE few_f16_u4_norm
#define SPEC FEW, HALF, 4, 0, 1
#define SIZE 40, 328, 32
#define TILE 1, 2, 4
#define NORM 1
#include "backends/cuda/tactics/gemm/block_scaled_case_for_tests.h"
#define CASE few_f32_i8_norm
#define SPEC FEW, SINGLE, 8, 1, 0
#define SIZE 17, 101, 101
#define TILE 2, 1, 4
#define NORM 1
#include "backends/cuda/tactics/gemm/block_scaled_case_for_tests.h"
#define CASE many_f16_i4
#define SPEC MANY, HALF, 4, 1, 0
#define SIZE 72, 328, 128
#define TILE 2, 1, 2, 4, 1
#include "backends/cuda/tactics/gemm/block_scaled_case_for_tests.h"
#define CASE many_f16_u4_zeros
#define SPEC MANY, HALF, 4, 0, 1
#define SIZE 70, 210, 32
#define TILE 2, 2, 2, 3, 0
#include "backends/cuda/tactics/gemm/block_scaled_case_for_tests.h"
#define CASE many_bf16_i4_one_block
#define SPEC MANY, BRAIN, 4, 1, 1
#define SIZE 24, 136, 136
#define TILE 1, 1, 4, 2, 1
#include "backends/cuda/tactics/gemm/block_scaled_case_for_tests.h"
#define CASE many_bf16_u8_zeros
#define SPEC MANY, BRAIN, 8, 0, 1
#define SIZE 40, 200, 16
#define TILE 2, 2, 1, 3, 1
#include "backends/cuda/tactics/gemm/block_scaled_case_for_tests.h"
#define CASE many_f16_i8
#define SPEC MANY, HALF, 8, 1, 0
#define SIZE 37, 101, 48
#define TILE 1, 1, 2, 4, 0
#include "backends/cuda/tactics/gemm/block_scaled_case_for_tests.h"
#define CASE many_f32_u4_zeros
#define SPEC MANY, SINGLE, 4, 0, 1
#define SIZE 40, 264, 96
#define TILE 1, 2, 2, 3, 1
#include "backends/cuda/tactics/gemm/block_scaled_case_for_tests.h"
#define CASE many_f32_i8_one_block
#define SPEC MANY, SINGLE, 8, 1, 0
#define SIZE 19, 99, 99
#define TILE 2, 1, 1, 2, 0
#include "backends/cuda/tactics/gemm/block_scaled_case_for_tests.h"
#define CASE each_f32_u4_zeros
#define SPEC EACH, SINGLE, 4, 0, 1
#define SIZE 70, 77, 13
#include "backends/cuda/tactics/gemm/block_scaled_case_for_tests.h"
#define CASE each_f16_i8
#define SPEC EACH, HALF, 8, 1, 0
#define SIZE 66, 100, 100
#include "backends/cuda/tactics/gemm/block_scaled_case_for_tests.h"

namespace tenfold::backends {
namespace {

const KernelCase* const kCases[] = {
    &few_f16_i4::kCase, &few_f16_u4_zeros::kCase, &few_bf16_u4::kCase, &few_bf16_i4_one_block::kCase, &few_f16_u8_zeros::kCase,
    &few_bf16_i8::kCase, &few_f32_i4::kCase, &few_f32_u8_zeros::kCase, &few_f16_u4_norm::kCase, &few_f32_i8_norm::kCase,
    &many_f16_i4::kCase, &many_f16_u4_zeros::kCase, &many_bf16_i4_one_block::kCase, &many_bf16_u8_zeros::kCase,
    &many_f16_i8::kCase, &many_f32_u4_zeros::kCase, &many_f32_i8_one_block::kCase, &each_f32_u4_zeros::kCase, &each_f16_i8::kCase};

std::string problem(const KernelCase& c, int64_t m) {
  const std::string blocks = cat("[", (c.k + c.block - 1) / c.block, ",", c.n, "]");
  return cat(name(c.type), "[", m, ",", c.k, "](-2,2) ", name(c.weight), "[", c.k, ",", c.n, "]! f32", blocks, "(-0.02,0.05)!",
             c.zeros ? cat(" ", name(c.weight), blocks, "!") : "", " block_size=", c.block, " numerics={round_to=tf32}");
}

// The sum of products and that of their magnitudes, for each element.
std::vector<std::pair<double, double>> sums_of(const std::vector<Tensor>& in, const KernelCase& c, int64_t m) {
  std::vector<std::pair<double, double>> sums;
  for (int64_t row = 0; row < m; ++row)
    for (int64_t n = 0; n < c.n; ++n) {
      double sum = 0, magnitude = 0;
      for (int64_t k = 0; k < c.k; ++k) {
        const int64_t block = k / c.block * c.n + n, zero = c.zeros ? in[3].as_int(block) : 0;
        const auto weight = static_cast<double>(in[1].as_int(k * c.n + n) - zero) * in[2].as_double(block);
        const double product = in[0].as_double(row * c.k + k) * weight;
        sum += product, magnitude += std::fabs(product);
      }
      sums.emplace_back(sum, magnitude);
    }
  return sums;
}

// Rows divided by their root mean square, times the scale, as activations store them; epsilon is 0.25.
Tensor normalized(const Tensor& x, const Tensor& scale, const KernelCase& c) {
  Tensor y(c.type, x.shape());
  for (int64_t row = 0; row < x.size() / c.k; ++row) {
    double squares = 0;
    for (int64_t k = 0; k < c.k; ++k) squares += x.as_double(row * c.k + k) * x.as_double(row * c.k + k);
    const double inverse = 1 / std::sqrt(squares / static_cast<double>(c.k) + 0.25);
    for (int64_t k = 0; k < c.k; ++k)
      store_double(c.type, y.mutable_raw(), row * c.k + k, x.as_double(row * c.k + k) * inverse * scale.as_double(k));
  }
  return y;
}

// `first`: what rows after the first one begin with.
void check_case(const KernelCase& c, int64_t m, const std::vector<float>& first = {}) {
  SCOPED_TRACE(cat(c.name, ", ", m, " rows"));
  testing::OneNode one("MatMulBlockScaled", problem(c, m), "", {});
  for (std::size_t r = 0; r < first.size(); ++r) one.operands[0].mutable_data<float>()[static_cast<int64_t>(r + 1) * c.k] = first[r];
  const DeviceInfo device = testing::compile_only(90);
  const Tactic any = cuda_matmul_block_scaled_few();   // all pack alike
  testing::TacticRun run(any, one.graph, 0);
  run.problem.device = &device;
  const BlockScaled read = block_scaled_of(run.problem);
  testing::Backwards workers;
  testing::OnHost memory(workers);
  std::vector<const Tensor*> constants;
  for (const Tensor& t : one.operands) constants.push_back(&t);
  const Tensor norm = ops::random_tensor(DType::f32, {c.k}, 5, 0.5, 1.5);
  const void* const norm_scale = c.norm ? memory.place(norm.raw(), norm.bytes(), 16, false) : nullptr;
  const void* packed[4] = {};
  for (int input = 1; input < static_cast<int>(one.operands.size()); ++input) {
    const int64_t bytes = block_scaled_bytes(run.problem, {}, input);
    std::vector<char> host(static_cast<std::size_t>(bytes));
    block_scaled_pack(run.problem, {}, input, constants, host.data());
    packed[input] = memory.place(host.data(), bytes, 16, false);
  }
  const int64_t element = bits(c.type) / 8;
  const void* x = memory.place(one.operands[0].raw(), one.operands[0].bytes(), c.by_vectors ? 16 : element, false);
  const void* const aligned_x = memory.place(one.operands[0].raw(), one.operands[0].bytes(), 16, false);
  if (c.norm) one.operands[0] = normalized(one.operands[0], norm, c);
  const auto expected = sums_of(one.operands, c, m);
  if (c.many_tile) {
    EXPECT_EQ(c.many_tile->shared_bytes(read.problem), c.shared_bytes);
  }
  for (const bool backwards : {false, true})
    for (const auto kernel : c.kernels) {
      if (!kernel) continue;
      if (kernel == c.kernels[1]) x = aligned_x;
      Tensor y(c.type, {m, c.n});
      std::memset(y.mutable_raw(), 0xff, static_cast<std::size_t>(y.bytes()));
      void* const to = memory.place(y.raw(), y.bytes(), c.by_vectors ? 16 : element, false);
      const BlockScaledArguments a{x, packed[1], packed[2], packed[3], to, {}, m, norm_scale};
      const auto across = static_cast<unsigned>((c.n + c.columns - 1) / c.columns), down = static_cast<unsigned>((m + c.rows - 1) / c.rows);
      for (unsigned block = 0; block < across * down; ++block) {
        if (c.shared) std::memset(c.shared, 0xff, static_cast<std::size_t>(c.shared_bytes));
        const on_host::Index index = c.few_tile ? on_host::Index{block % across, block / across, 0} : on_host::Index{block, 0, 0};
        ASSERT_TRUE(Block().run(index, static_cast<unsigned>(c.threads), [&] { kernel(a); }, backwards)) << "block " << block;
      }
      memory.fetch(y.mutable_raw(), to, y.bytes());
      const double rounding = c.type == DType::f16 ? 0x1p-11 : c.type == DType::bf16 ? 0x1p-8 : 0;
      for (int64_t i = 0; i < y.size(); ++i) {
        const auto& [sum, magnitude] = expected[static_cast<std::size_t>(i)];
        if (!std::isfinite(sum)) {
          ASSERT_TRUE(std::isnan(sum) ? std::isnan(y.as_double(i)) : y.as_double(i) == sum) << y.as_double(i) << " for " << sum;
          continue;
        }
        const double of_norm = c.norm ? 0x1p-14 * magnitude : 0;   // other neighbors are nearest now and then
        ASSERT_NEAR(y.as_double(i), sum, rounding * std::fabs(sum) + 3e-7 * magnitude + of_norm) << "row " << i / c.n << ", " << i % c.n;
      }
    }
}

TEST(BlockScaledKernels, ComputeOnTheHostWhatF64Gives) {
  if (!TENFOLD_FIBERS) GTEST_SKIP() << "ThreadSanitizer knows no fibers";
  for (const KernelCase* c : kCases)
    for (const int64_t m : {int64_t{1}, int64_t{5}, int64_t{c->rows} + 3}) check_case(*c, m);
}

// Of f32 in three terms: what is no ordinary number gives what f64 gives, and changes no other row. (Values beyond 1e36 may overflow: they
// are multiplied by integers before they are by scales.)
TEST(BlockScaledKernels, TakeInfinitiesAndNaNs) {
  if (!TENFOLD_FIBERS) GTEST_SKIP() << "ThreadSanitizer knows no fibers";
  const float infinity = std::numeric_limits<float>::infinity();
  for (const KernelCase* c : {&few_f32_i4::kCase, &many_f32_u4_zeros::kCase})
    check_case(*c, 6, {infinity, -infinity, std::bit_cast<float>(0x7f800001u), 1e34f, 1e-38f});
}

// What the tests' macros say of a problem, the generator says, too.
TEST(BlockScaledKernels, AreTestedAsTheyAreGenerated) {
  for (const KernelCase* c : kCases) {
    SCOPED_TRACE(c->name);
    BlockScaledProblem p;
    p.gemm.in = p.gemm.out = c->type, p.gemm.weight = c->weight, p.gemm.n = c->n, p.gemm.k = c->k, p.gemm.vectors = c->by_vectors;
    p.block = c->block, p.zeros = c->zeros;
    const std::string text = c->few_tile    ? generate_block_scaled_few(p, *c->few_tile)
                             : c->many_tile ? generate_block_scaled_many(p, *c->many_tile)
                                            : generate_block_scaled_elements(p);
    const bool is_signed = c->weight == DType::i4 || c->weight == DType::i8;
    const auto expect = [&](const char* macro, int64_t value) {
      EXPECT_NE(text.find(cat("#define ", macro, " ", value, "\n")), std::string::npos) << macro << " is not " << value << " in\n" << text;
    };
    expect("F32", c->type == DType::f32), expect("BF16", c->type != DType::f16), expect("BITS", bits(c->weight));
    expect("ZEROS", c->zeros), expect("ZERO", is_signed ? 1 << (bits(c->weight) - 1) : 0);
    expect("N", c->n), expect("K", c->k), expect("BLOCK", c->block), expect("WIDTH", c->by_vectors ? 8 : 1);
    if (!c->few_tile && !c->many_tile) {
      expect("THREADS", c->threads);
      continue;
    }
    expect("ROW_TILES", c->rows / 8), expect("PANELS", c->few_tile ? c->few_tile->panels : c->many_tile->panels);
    expect("WARPS", c->threads / 32);
    if (c->many_tile) expect("STAGES", c->many_tile->stages), expect("VECTORS", c->by_vectors);
  }
}

}  // namespace
}  // namespace tenfold::backends
