// Where the rows of a product's first operand lie: of a matrix, of windows over an image, of a transposed convolution's phases.
// ROW_KIND: 0 a matrix, 1 a matrix of images' positions, 2 windows, 3 phases. Image, result, window, stride, dilation and begin are
// IZ IY IX, OZ OY OX, KZ KY KX, SZ SY SX, DZ DY DX, BZ BY BX; C channels of a group.
#pragma once

// What a block computes of the result: a group's channels; of a transposed convolution a phase, whose window it then knows.
#if ROW_KIND == 3
constexpr int kPhasesZ = RSZ, kPhasesY = RSY, kPhasesX = RSX;
__constant__ int kTapsZ[] = {TAPSZ}, kTapsY[] = {TAPSY}, kTapsX[] = {TAPSX};
__constant__ int kBeginZ[] = {BEGINZ}, kBeginY[] = {BEGINY}, kBeginX[] = {BEGINX};
struct Part {
  int group, z, y, x, terms, bz, by, bx, ky, kx;
  u32 by_plane, by_row;   // 2^32 divided by taps, for dividing fewer than 65536 of them
  __device__ __forceinline__ Part(int rest) : group(rest % GROUPS) {
    const int phase = rest / GROUPS;
    z = phase / (kPhasesY * kPhasesX), y = phase / kPhasesX % kPhasesY, x = phase % kPhasesX;
    ky = kTapsY[y], kx = kTapsX[x], bz = kBeginZ[z], by = kBeginY[y], bx = kBeginX[x];
    terms = kTapsZ[z] * ky * kx * C;
    by_plane = 0xffffffffu / max(ky * kx, 1) + 1, by_row = 0xffffffffu / max(kx, 1) + 1;   // of one: 0
  }
  __device__ __forceinline__ int weights() const { return ((z * kPhasesY + y) * kPhasesX + x) * GROUPS + group; }
  __device__ __forceinline__ void place(int tap, int& iz, int& iy, int& ix) const {
    iz = by_plane ? (int)__umulhi(tap, by_plane) : tap;
    const int in_plane = tap - iz * ky * kx;
    iy = by_row ? (int)__umulhi(in_plane, by_row) : in_plane;
    ix = in_plane - iy * kx;
  }
  // Where position `down` of the phase lies in the result; -1: beyond it.
  __device__ __forceinline__ i64 result(i64 down) const {
    const int position = (int)(down % (OZ * OY * OX));
    const int rz = position / (OY * OX) * RSZ + z, ry = position / OX % OY * RSY + y, rx = position % OX * RSX + x;
    return rz < RZ && ry < RY && rx < RX ? ((down / (OZ * OY * OX) * RZ + rz) * RY + ry) * (i64)RX + rx : -1;
  }
};
#elif ROW_KIND == 2
struct Part {
  int group;
  static constexpr int terms = K, bz = BZ, by = BY, bx = BX;
  __device__ __forceinline__ Part(int rest) : group(rest % GROUPS) {}
  __device__ __forceinline__ int weights() const { return group; }
  __device__ __forceinline__ void place(int tap, int& z, int& y, int& x) const { z = tap / (KY * KX), y = tap / KX % KY, x = tap % KX; }
};
#else
struct Part {
  int group;
  static constexpr int terms = K;
  __device__ __forceinline__ Part(int rest) : group(rest % GROUPS) {}
  __device__ __forceinline__ int weights() const { return group; }
};
#endif

// Where row m of a begins, and whether element k of it is there.
#if ROW_KIND >= 2
struct Row {
  const ELEMENT* from; int z, y, x;
  __device__ __forceinline__ Row(const GemmArguments& a, const Part& part, i64 m) {
    const int position = (int)(m % (OZ * OY * OX));
    const i64 image = m / (OZ * OY * OX);
    from = (const ELEMENT*)a.a + image * ((i64)IZ * IY * IX * (C * GROUPS)) + part.group * C;
    z = position / (OY * OX) * SZ - part.bz; y = position / OX % OY * SY - part.by; x = position % OX * SX - part.bx;
    if (m >= a.m) z = -(1 << 28), from = (const ELEMENT*)a.a;
  }
  __device__ __forceinline__ const ELEMENT* at(const Part& part, int k, bool& ok) const {
    const int tap = k / C, c = k % C;
    int iz, iy, ix;
    part.place(tap, iz, iy, ix);
    iz = z + iz * DZ, iy = y + iy * DY, ix = x + ix * DX;
    ok = k < part.terms && iz >= 0 && iz < IZ && iy >= 0 && iy < IY && ix >= 0 && ix < IX;
    return ok ? from + ((iz * IY + iy) * (i64)IX + ix) * (C * GROUPS) + c : from;
  }
};
#else
struct Row {
  const ELEMENT* from; bool there;
  __device__ __forceinline__ Row(const GemmArguments& a, const Part&, i64 m) : from((const ELEMENT*)a.a + m * K), there(m < a.m) {}
  __device__ __forceinline__ const ELEMENT* at(const Part&, int k, bool& ok) const { ok = there && k < K; return ok ? from + k : from; }
};
#endif
