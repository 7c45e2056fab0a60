// Attention of e4m3 on tensor cores: weights, which are the softmax times 256, and results. Of a product's columns that a thread holds two
// blocks of eight are the even and the odd ones of sixteen: values come by ldmatrix as pairs of bytes.
#pragma once

#if MMA_BITS == 8
constexpr float kWeightsReach = 5.545177444f;   // ln 256: weights up to 256, so that those above 2^-14 of the largest keep their digits
__device__ __forceinline__ u32 four_of(float a, float b, float c, float d) {
  u16 low, high;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(low) : "f"(b), "f"(a));
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(high) : "f"(d), "f"(c));
  return (u32)low | (u32)high << 16;
}
template <bool ALIGNED, int BLOCKS_OF_8>
__device__ __forceinline__ void store_fours(const Arguments& a, const Rows& rows, i64 head, i64 batch, int first,
                                            const float (&out)[BLOCKS_OF_8][4], const float (&all)[4]) {
  #pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int row = first + threadIdx.x % 32 / 4 + 8 * h;
    if (row >= rows.queries) continue;
    RESULT* y = a.y + batch * a.y_stride[0] + head * a.y_stride[1] + (rows.begin + row) * a.y_stride[2];
    const float scale = share_of(all[2 * h], VALUE_SCALE);
    #pragma unroll
    for (int n = 0; n < BLOCKS_OF_8; n += 2) {
      const int column = n * 8 + threadIdx.x % 4 * 4;
      RESULT four[4];
      #pragma unroll
      for (int i = 0; i < 4; ++i) four[i] = STORE(epilogue(out[n + i % 2][2 * h + i / 2] * scale));
      if (ALIGNED && column < REAL_VALUE) write<4>(y + column, four);
      if (ALIGNED) continue;
      #pragma unroll
      for (int i = 0; i < 4; ++i)
        if (column + i < REAL_VALUE) y[column + i] = four[i];
    }
  }
}
#endif
