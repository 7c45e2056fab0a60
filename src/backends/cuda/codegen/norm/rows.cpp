// Printing row kernels: the computation is one of four bodies between loading and storing.
#include "backends/cuda/codegen/norm/rows.h"

#include <algorithm>
#include <bit>

#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

constexpr const char* kFrame = R"(
struct Arguments { SOURCES OUT* y; const SCALE* scale; const BIAS* bias; i64 rows; u32* bad_index; QUANTISED* quantised; };
// As one instruction: NVRTC 13 makes seven of the first vector of a row.
__device__ __forceinline__ void write_whole(u16* p, const u16 (&x)[8]) {
  const auto two = [&](int i) { return (u32)x[i] | (u32)x[i + 1] << 16; };
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" :: "l"(p), "r"(two(0)), "r"(two(2)), "r"(two(4)), "r"(two(6)));
}
template <class T, int V> __device__ __forceinline__ void write_whole(T* p, const T (&x)[V]) { write<V>(p, x); }
template <int V> __device__ __forceinline__ void compute(const Arguments& a) {
  constexpr int kSteps = (N + THREADS * V - 1) / (THREADS * V);
  __shared__ float room[32];
  const int t = threadIdx.x % THREADS;
  const i64 row = (i64)blockIdx.x * ROWS + threadIdx.x / THREADS;
  if (row >= a.rows) return;
  PLACES
  OUT* y = a.y + row * N;
  float v[kSteps][V];
  #pragma unroll
  for (int k = 0; k < kSteps; ++k) {
    const int at = (k * THREADS + t) * V;
    LOADING
  }
  CONSTANTS
  STATISTICS
  next_may_start();
  #pragma unroll
  for (int k = 0; k < kSteps; ++k) {
    const int at = (k * THREADS + t) * V;
    if (at >= N) continue;
    OUT raw[V];
    FINISH
    write_whole(y + at, raw);
    QUANTISING
  }
}
extern "C" __global__ void __launch_bounds__(THREADS * ROWS) singles(Arguments a) { enter(); compute<1>(a); }
extern "C" __global__ void __launch_bounds__(THREADS * ROWS) vectors(Arguments a) { enter(); compute<WIDTH>(a); }
)";

constexpr const char* kLoading = R"(
    IN raw[V];
    if (at < N) read<V>(x + at, raw);
    #pragma unroll
    for (int i = 0; i < V; ++i) v[k][i] = at < N ? LOAD(raw[i]) : NEUTRAL;)";
constexpr const char* kAdding = R"(
    if (at < N THERE@) {
      IN raw[V];
      read<V>(x@ + at, raw);
      #pragma unroll
      for (int i = 0; i < V; ++i) v[k][i] += LOAD(raw[i]);
    })";
constexpr const char* kIndexed = R"(
  i64 at@ = ((const INDEX@*)a.index[@])[(u32)row % (u32)a.count[@]];
  if (at@ < 0) at@ += a.extent[@];
  const IN* x@ = at@ >= 0 && at@ < a.extent[@] ? a.x[@] + at@ * N : nullptr;
  if (x@ == nullptr && t == 0) *a.bad_index = 1;)";

// #pragma unroll cannot stand in a macro, hence EACH.
constexpr const char* kSoftmaxStatistics = R"(
  float most = -INFINITY_F;
  EACH most = max_nan(most, v[k][i]);
  most = over_block<Max, THREADS>(most, -INFINITY_F, room);
  float sum = 0;
  EACH { const float e = __expf(v[k][i] - most); sum += (k * THREADS + t) * V + i < N ? e : 0.f; KEEP }
  sum = over_block<Sum, THREADS>(sum, 0.f, room);
)";
constexpr const char* kNormStatistics = R"(
  float sum = 0;
  EACH sum += v[k][i];
  const float mean = over_block<Sum, THREADS>(sum, 0.f, room) * (1.0f / N);
  float squares = 0;
  EACH { const float d = v[k][i] - mean; squares += (k * THREADS + t) * V + i < N ? d * d : 0.f; }
  const float inverse = rsqrtf(over_block<Sum, THREADS>(squares, 0.f, room) * (1.0f / N) + EPSILON);
)";
constexpr const char* kRmsStatistics = R"(
  float squares = 0;
  EACH squares += v[k][i] * v[k][i];
  const float mean = 0.f, inverse = rsqrtf(over_block<Sum, THREADS>(squares, 0.f, room) * (1.0f / N) + EPSILON);
)";
constexpr const char* kNormFinish = R"(
    if (!kHeld) NORM_READ
    for (int i = 0; i < V; ++i) { const float r = (v[k][i] - mean) * inverse * LOAD_SCALE(scale[HELD][i]) BIAS_ADD; raw[i] = STORE(r); }
)";
// Scale and bias come along with the row if registers hold them: behind a store that may change them each would be waited for alone.
constexpr const char* kNormConstants = R"(constexpr bool kHeld = kSteps * V <= 32;
  SCALE scale[kHeld ? kSteps : 1][V];
  BIAS bias[kHeld ? kSteps : 1][V];
  #pragma unroll
  for (int k = 0; k < (kHeld ? kSteps : 0); ++k) {
    const int at = (k * THREADS + t) * V;
    if (at < N) NORM_READ
  })";

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
}

std::string statistics(RowKind kind) {
  std::string text = kind == RowKind::layer_norm ? kNormStatistics : kind == RowKind::rms_norm ? kRmsStatistics : kSoftmaxStatistics;
  replace_all(text, "KEEP", kind == RowKind::softmax ? "v[k][i] = e;" : "");
  replace_all(text, "EACH", "\n  #pragma unroll\n  for (int k = 0; k < kSteps; ++k)\n  #pragma unroll\n  for (int i = 0; i < V; ++i)");
  return text;
}

std::string norm_read(const RowProblem& p) {
  return cat("{ read<V>(a.scale + at, scale[HELD]);", p.has_bias ? " read<V>(a.bias + at, bias[HELD]);" : "", " }");
}

std::string finish(const RowProblem& p) {
  if (p.kind == RowKind::softmax)
    return "const float scale = 1.0f / sum;\n    for (int i = 0; i < V; ++i) { const float r = v[k][i] * scale; raw[i] = STORE(r); }";
  if (p.kind == RowKind::log_softmax)
    return "for (int i = 0; i < V; ++i) { const float r = v[k][i] - most - logf(sum); raw[i] = STORE(r); }";
  std::string text = kNormFinish;
  replace_all(text, "BIAS_ADD", p.has_bias ? cat("+ ", loaded(p.bias, "bias[HELD][i]")) : "");
  replace_all(text, "NORM_READ", norm_read(p));
  replace_all(text, "HELD", "kHeld ? k : 0");
  return text;
}
std::string constants(const RowProblem& p) {
  if (p.kind == RowKind::softmax || p.kind == RowKind::log_softmax) return "";
  std::string text = kNormConstants;
  replace_all(text, "NORM_READ", norm_read(p));
  replace_all(text, "HELD", "k");
  return text;
}

// The text with its '@' replaced by the term's number.
std::string numbered(std::string text, std::size_t term) {
  replace_all(text, "@", std::to_string(term));
  return text;
}
void fill_sources(const RowProblem& p, std::string& text) {
  std::string places = "const IN* x = a.x + row * N;", loading = kLoading;
  if (!p.terms.empty()) places.clear(), loading = "for (int i = 0; i < V; ++i) v[k][i] = 0.f;";
  for (std::size_t t = 0; t < p.terms.size(); ++t) {
    std::string place = p.terms[t].indexed ? kIndexed : "\n  const IN* x@ = a.x[@] + (u32)row % (u32)a.count[@] * (i64)N;";
    replace_all(place, "INDEX@", std::string(storage_type(p.terms[t].index)));
    places += numbered(place, t);
    std::string adding = kAdding;
    replace_all(adding, "THERE@", p.terms[t].indexed ? "&& x@ != nullptr" : "");   // a branch would keep loads from going out together
    loading += numbered(adding, t);
  }
  replace_all(text, "SOURCES", p.terms.empty() ? "const IN* x;" : cat("const IN* x[", kMostRowTerms, "]; const void* index[", kMostRowTerms,
                                                                      "]; i64 count[", kMostRowTerms, "], extent[", kMostRowTerms, "];"));
  replace_all(text, "PLACES", places);
  replace_all(text, "LOADING", loading);
}

// The second result of `at` and the elements behind it.
std::string quantising(const RowProblem& p) {
  if (p.quantised == DType::count_) return "";
  const auto factor = std::bit_cast<std::int32_t>(static_cast<float>(1 / p.quantised_scale));
  std::string value = cat(loaded(p.out, "raw[i]"), " * __int_as_float(", factor, ")");
  if (is_float(p.quantised)) {
    value = stored(p.quantised, value);
  } else {
    const bool is_signed = p.quantised == DType::i8;
    value = cat("saturated<QUANTISED>(rintf(", value, ") + (float)", p.quantised_zero, ", ", is_signed ? "-128, 127)" : "0, 255)");
  }
  return cat("QUANTISED small[V];\n    for (int i = 0; i < V; ++i) small[i] = ", value,
             ";\n    write<V>(a.quantised + row * N + at, small);");
}

}  // namespace

RowKernel generate_rows(const RowProblem& p) {
  RowKernel k;
  int widest = 1;
  for (DType t : {p.in, p.out, p.scale, p.bias}) widest = std::max(widest, bits(t) / 8);
  k.width = 16 / widest;
  while (p.length % k.width != 0) k.width /= 2;
  constexpr int kLongestOfWarp = 1024;   // its sums need no barrier: loads of other rows go on meanwhile
  if (p.length > kLongestOfWarp) k.threads = 128;
  while (k.threads > 32 && k.threads < 1024 && p.length > k.threads * 16) k.threads *= 2;
  while (k.threads > 8 && k.threads <= 32 && p.length <= k.threads / 2 * k.width) k.threads /= 2;   // short rows share a warp
  k.rows = k.threads <= 32 ? 128 / k.threads : 1;
  std::string text = kFrame;
  fill_sources(p, text);
  replace_all(text, "CONSTANTS", constants(p));
  replace_all(text, "STATISTICS", statistics(p.kind));
  replace_all(text, "FINISH", finish(p));
  replace_all(text, "QUANTISING", quantising(p));
  const bool softmax = p.kind == RowKind::softmax || p.kind == RowKind::log_softmax;
  std::string head;
  const auto define = [&](const char* name, const std::string& value) { head += cat("#define ", name, " ", value, "\n"); };
  define("IN", std::string(storage_type(p.in))), define("OUT", std::string(storage_type(p.out)));
  define("SCALE", std::string(storage_type(p.scale))), define("BIAS", std::string(storage_type(p.bias)));
  define("N", std::to_string(p.length)), define("THREADS", std::to_string(k.threads)), define("ROWS", std::to_string(k.rows));
  define("WIDTH", std::to_string(k.width)), define("EPSILON", cat(p.epsilon, "f")), define("NEUTRAL", softmax ? "-INFINITY_F" : "0.f");
  define("LOAD(r)", loaded(p.in, "(r)")), define("STORE(r)", stored(p.out, "(r)")), define("LOAD_SCALE(r)", loaded(p.scale, "(r)"));
  define("QUANTISED", p.quantised == DType::count_ ? "void" : std::string(storage_type(p.quantised)));
  k.source = cat(prelude(), head, text);
  return k;
}

}  // namespace tenfold::backends::cuda
