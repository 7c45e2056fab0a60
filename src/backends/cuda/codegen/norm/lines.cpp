// Printing line kernels: statistics and results between them are texts for each kind.
#include "backends/cuda/codegen/norm/lines.h"

#include <bit>

#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

constexpr const char* kFrame = R"(
struct Arguments { const IN* x; const SCALE* scale; const BIAS* bias; OUT* y; float *mean, *inverse;
                   i64 lines, length, inner, scale_step, bias_step, groups, per_group, spatial; };
// Over the threads of a line; every one of them gets the result.
template <class Op, int COLUMNS, int LANES> __device__ __forceinline__ float over_lanes(float x, float* room) {
  const int t = threadIdx.x;
  room[t] = x;
  #pragma unroll
  for (int half = LANES / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half * COLUMNS) room[t] = Op::apply(room[t], room[t + half * COLUMNS]);
  }
  __syncthreads();
  const float r = room[t % COLUMNS];
  __syncthreads();
  return r;
}
#define EACH for (i64 k = lane; k < length; k += LANES)
template <int COLUMNS, int LANES> __device__ __forceinline__ void compute(const Arguments& a) {
  enter();
  __shared__ float room[COLUMNS * LANES];
  const int lane = threadIdx.x / COLUMNS;
  const i64 line = (i64)blockIdx.x * COLUMNS + threadIdx.x % COLUMNS;
  const bool there = line < a.lines;
  const i64 length = there ? a.length : 0, count = a.length, inner = a.inner;   // all threads take part in the sums
  const i64 first = line / inner * count * inner + line % inner;
  const IN* x = a.x + first;
  OUT* y = a.y + first;
  STATISTICS
  EACH {
    const float e = LOAD(x[k * inner]);
    const float r = RESULT;
    y[k * inner] = STORE(r);
  }
  ASIDE
}
extern "C" __global__ void __launch_bounds__(512) many(const Arguments a) { compute<1, 512>(a); }
extern "C" __global__ void __launch_bounds__(128) few(const Arguments a) { compute<1, 128>(a); }
extern "C" __global__ void __launch_bounds__(512) columns(const Arguments a) { compute<32, 16>(a); }
)";

// Largest element and sum of exponentials in one walk: the sum is scaled again where a larger one comes.
constexpr const char* kSoftmax = R"(
  float most = -INFINITY_F, sum = 0.f;
  EACH {
    const float e = LOAD(x[k * inner]), larger = max_nan(most, e);
    sum = sum * (most == larger ? 1.f : __expf(most - larger)) + (e == larger && e < INFINITY_F ? 1.f : __expf(e - larger));
    most = larger;
  }
  const float all = over_lanes<Max, COLUMNS, LANES>(most, room);
  sum = over_lanes<Sum, COLUMNS, LANES>(sum * (most == all ? 1.f : __expf(most - all)), room);
  most = all;
  const float factor = 1.f / sum, logarithm = logf(sum);
  (void)factor, (void)logarithm;)";
constexpr const char* kNorm = R"(
  float sum = 0.f;
  EACH sum += LOAD(x[k * inner]);
  const float mean = over_lanes<Sum, COLUMNS, LANES>(sum, room) / (float)count;
  float squares = 0.f;
  EACH {
    const float d = LOAD(x[k * inner]) - mean;
    squares += d * d;
  }
  const float inverse = rsqrtf(over_lanes<Sum, COLUMNS, LANES>(squares, room) / (float)count + EPSILON);)";
constexpr const char* kRms = R"(
  float squares = 0.f;
  EACH {
    const float e = LOAD(x[k * inner]);
    squares += e * e;
  }
  const float mean = 0.f, inverse = rsqrtf(over_lanes<Sum, COLUMNS, LANES>(squares, room) / (float)count + EPSILON);)";
// The first of the largest.
constexpr const char* kHardmax = R"(
  float most = -INFINITY_F;
  EACH most = fmaxf(most, LOAD(x[k * inner]));
  most = over_lanes<Max, COLUMNS, LANES>(most, room);
  float place = INFINITY_F;
  EACH if (LOAD(x[k * inner]) == most) place = fminf(place, (float)k);
  place = over_lanes<Min, COLUMNS, LANES>(place, room);)";
constexpr const char* kLp = R"(
  float sum = 0.f;
  EACH {
    const float e = LOAD(x[k * inner]);
    sum += TERM;
  }
  sum = over_lanes<Sum, COLUMNS, LANES>(sum, room);
  const float norm = NORM;)";
constexpr const char* kAside = R"(if (there && lane == 0 && a.mean) a.mean[line] = mean;
  if (there && lane == 0 && a.inverse) a.inverse[line] = inverse;)";

struct Texts {
  std::string statistics, result, aside;
};

Texts texts_of(const LineProblem& p) {
  const std::string scale = "LOAD_SCALE(a.scale[AT(scale_step)])", bias = p.has_bias ? " + LOAD_BIAS(a.bias[AT(bias_step)])" : "";
  switch (p.kind) {
    case LineKind::softmax: return {kSoftmax, "__expf(e - most) * factor", ""};
    case LineKind::log_softmax: return {kSoftmax, "e - most - logarithm", ""};
    case LineKind::layer_norm: return {kNorm, cat("(e - mean) * inverse * ", scale, bias), kAside};
    case LineKind::channel_norm: return {kNorm, cat("(e - mean) * inverse * ", scale, bias), ""};
    case LineKind::rms_norm: return {kRms, cat("(e - mean) * inverse * ", scale, bias), ""};
    case LineKind::hardmax: return {kHardmax, "(float)k == place ? 1.f : 0.f", ""};
    default: return {kLp, "norm == 0.f ? 0.f : e / norm", ""};
  }
}

}  // namespace

std::string generate_lines(const LineProblem& p) {
  std::string head;
  const auto define = [&](const char* name, const auto& value) { head += cat("#define ", name, " ", value, "\n"); };
  define("IN", storage_type(p.in)), define("OUT", storage_type(p.out));
  define("SCALE", storage_type(p.scale)), define("BIAS", storage_type(p.bias));
  define("LOAD(r)", loaded(p.in, "(r)")), define("STORE(r)", stored(p.out, "(r)"));
  define("LOAD_SCALE(r)", loaded(p.scale, "(r)")), define("LOAD_BIAS(r)", loaded(p.bias, "(r)"));
  define("EPSILON", cat("__int_as_float(", std::bit_cast<std::int32_t>(static_cast<float>(p.epsilon)), ")"));
  define("TERM", p.kind == LineKind::squares ? "e * e" : "fabsf(e)");
  define("NORM", p.kind == LineKind::squares ? "sqrtf(sum)" : "sum");
  if (p.kind == LineKind::channel_norm)
    define("AT(step)", "((u32)line % (u32)a.groups * (u32)a.per_group + (u32)k / (u32)a.spatial)");
  else
    define("AT(step)", "k * a.step");
  const Texts texts = texts_of(p);
  std::string text = kFrame;
  replace_once(text, "STATISTICS", texts.statistics);
  replace_once(text, "RESULT", texts.result);
  replace_once(text, "ASIDE", texts.aside);
  return cat(prelude(), head, text);
}

}  // namespace tenfold::backends::cuda
