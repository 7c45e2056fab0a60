// Weights of 4 or 8 bits as operand A of m16n8k16, and activations as operand B. Weights less their zero points are small integers, which
// f16 and bf16 have exactly; scales multiply sums of a block's products. Activations in f32 are three terms of bf16, which together have
// all of their bits. Each kernel includes this once, behind its macros; a test includes several kernels.

constexpr int kSteps = 16 / BITS, kTileRows = 16 * kSteps, kTilesAlong = (K + kTileRows - 1) / kTileRows, kPanels = (N + 15) / 16;
constexpr int kTerms = F32 ? 3 : 1;
// Steps of 16 rows of a block; all of them where columns have one scale.
constexpr int kBlockSteps = BLOCK < K ? BLOCK / 16 : kTilesAlong * kSteps, kBlocks = BLOCK < K ? (K + BLOCK - 1) / BLOCK : 1;

__device__ constexpr int common_divisor(int a, int b) { return b == 0 ? a : common_divisor(b, a % b); }

// Where 512 bytes begin, as words; where a lane's two scales are, among all.
__device__ __forceinline__ i64 tile_at(int panel, int tile) { return ((i64)panel * kTilesAlong + tile) * 128; }
__device__ __forceinline__ i64 scales_at(int panel, int step) {
  const int block = step / kBlockSteps;
  return ((i64)panel * kBlocks + (block < kBlocks ? block : kBlocks - 1)) * 16;
}

// What makes integers of a lane's weights, for its two columns.
struct Zeros {
#if BITS == 8 && BF16
  float minus[2];
#else
  u32 minus[2];   // twice
#endif
};
// u8 zero points: that of the first column, then that of the second.
__device__ __forceinline__ Zeros zeros_of(u32 first, u32 second) {
#if BITS == 8 && BF16
  return {{8388608.f + (float)first, 8388608.f + (float)second}};
#elif BITS == 8
  return {{(0xe400u + first) * 0x10001u, (0xe400u + second) * 0x10001u}};      // -(1024 + z)
#elif BF16
  return {{(0xc300u + first) * 0x10001u, (0xc300u + second) * 0x10001u}};      // -(128 + z)
#else
  return {{(0xe400u + first) * 0x10001u, (0xd400u + 16 * second) * 0x10001u}};   // -(1024 + z), -(64 + z)
#endif
}

// The weights of a step, of the 16 bytes that a lane has of a tile. Bits of a weight become low bits of a fraction whose exponent makes
// each of them count 1: 1024 + q in f16, 128 + q in bf16. Where they lie 4 bits higher, f16 has 1024 + 16 q, and takes a sixteenth.
__device__ __forceinline__ void weights_of(const u32 (&words)[4], int step, const Zeros& z, u32 (&a)[4]) {
#if BITS == 4
  u32 w = words[step];
#if BF16
  #pragma unroll
  for (int i = 0; i < 4; ++i, w >>= 4) a[i] = multiply_add_pairs(masked_with(w, 0x000f000fu, 0x43004300u), 0x3f803f80u, z.minus[i % 2]);
#else
  #pragma unroll
  for (int i = 0; i < 4; i += 2, w >>= 8) {
    a[i] = multiply_add_pairs(masked_with(w, 0x000f000fu, 0x64006400u), 0x3c003c00u, z.minus[0]);
    a[i + 1] = multiply_add_pairs(masked_with(w, 0x00f000f0u, 0x64006400u), 0x2c002c00u, z.minus[1]);
  }
#endif
#else
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    const u32 w = words[2 * step + i / 2];
#if BF16
    const float even = __uint_as_float(__byte_perm(w, 0x4b000000u, 0x7440u + 2 * (i % 2)));   // 2^23 + q
    const float odd = __uint_as_float(__byte_perm(w, 0x4b000000u, 0x7441u + 2 * (i % 2)));
    a[i] = pair(even - z.minus[i % 2], odd - z.minus[i % 2]);
#else
    a[i] = multiply_add_pairs(__byte_perm(w, 0x64646464u, i % 2 ? 0x4342u : 0x4140u), 0x3c003c00u, z.minus[i % 2]);
#endif
  }
#endif
}

// Four neighboring activations of a row, as they are read at once, and as the two registers of operand B.
#if F32
typedef float Packed;
#else
typedef u32 Packed;
#endif
constexpr int kPacked = 4 * sizeof(IN) / sizeof(Packed);
struct Activations {
  u32 b[kTerms][2];
};
__device__ __forceinline__ Activations activations_of(const Packed (&x)[kPacked]) {
  Activations to;
#if F32
  float rest[4] = {x[0], x[1], x[2], x[3]};
  #pragma unroll
  for (int term = 0; term < 3; ++term) {   // what a term leaves of a number is exact; of an infinity nothing is left
    to.b[term][0] = __byte_perm(__float_as_uint(rest[0]), __float_as_uint(rest[1]), 0x7632u);
    to.b[term][1] = __byte_perm(__float_as_uint(rest[2]), __float_as_uint(rest[3]), 0x7632u);
    #pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float left = rest[i] - __uint_as_float(__float_as_uint(rest[i]) & 0xffff0000u);
      rest[i] = term == 0 && fabsf(x[i]) == __uint_as_float(0x7f800000u) ? 0.f : left;
    }
  }
#else
  to.b[0][0] = x[0], to.b[0][1] = x[1];
#endif
  return to;
}

// part += the step's weights times eight rows of activations; small terms first.
__device__ __forceinline__ void add_products(float (&part)[4], const u32 (&a)[4], const Activations& x) {
  #pragma unroll
  for (int term = kTerms - 1; term >= 0; --term) mma(part, a, x.b[term][0], x.b[term][1]);
}
// sum += scale * part, where part[0] and part[1] are of the first column.
__device__ __forceinline__ void add_scaled(float (&sum)[4], const float (&scale)[2], const float (&part)[4]) {
  #pragma unroll
  for (int i = 0; i < 4; ++i) sum[i] += scale[i / 2] * part[i];
}
