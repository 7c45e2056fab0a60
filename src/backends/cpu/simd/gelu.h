// GELU by pieces, without a division: max(x, 0) - s(|x|), where s(t) = t (1 - Phi(t)) falls to nothing.
#pragma once

#include "backends/cpu/simd/f32.h"

#if defined(__AVX512F__)
namespace tenfold::simd {

// s on 32 pieces of [0, 6), the n-th power's coefficients together; the variable goes from 0 to 1 on each piece. Interpolated between
// Chebyshev points, on the first piece s(t) / t, so that small values are as precise as large ones; the last piece is zero. The sum stays
// within half a unit of f32 and 1e-8.
alignas(64) constexpr float kGeluPieces[5][32] = {
    {0.f, 0.0798064247f, 0.132686332f, 0.161374316f, 0.169970497f, 0.163360029f, 0.146581322f, 0.124261916f, 0.100210801f, 0.0772092491f,
     0.0569931827f, 0.0403839163f, 0.0275050662f, 0.018024357f, 0.011372678f, 0.00691284752f, 0.00404969417f, 0.00228716573f,
     0.0012456394f, 0.000654323841f, 0.000331564544f, 0.000162096709f, 7.6463919e-05f, 3.48058711e-05f, 1.52894845e-05f, 6.48191417e-06f,
     2.65219387e-06f, 1.04741014e-06f, 3.99257601e-07f, 1.46901911e-07f, 5.21735792e-08f, 0.f},
    {0.0937500075f, 0.0660258308f, 0.0401975922f, 0.0178727414f, 0.000145659869f, -0.012516412f, -0.0202623233f, -0.023738008f,
     -0.0239005815f, -0.0218158383f, -0.0184835624f, -0.0147189023f, -0.01109822f, -0.00796111487f, -0.0054503968f, -0.00356943789f,
     -0.00223980192f, -0.00134834298f, -0.000779455237f, -0.000433023786f, -0.000231327038f, -0.000118891243f, -5.88110852e-05f,
     -2.80092754e-05f, -1.28470128e-05f, -5.67630377e-06f, -2.41647808e-06f, -9.91361389e-07f, -3.91995485e-07f, -1.49413395e-07f,
     -5.49047421e-08f, 0.f},
    {-0.0140255261f, -0.0135413064f, -0.0121576907f, -0.0100831799f, -0.00761318207f, -0.00506892474f, -0.00273659662f, -0.000822099915f,
     0.000570020231f, 0.00143279345f, 0.00183423224f, 0.00188554917f, 0.00170978997f, 0.00141776144f, 0.00109425909f, 0.000794101157f,
     0.000545270974f, 0.000355767232f, 0.000221222959f, 0.000131387307f, 7.46539736e-05f, 4.06336476e-05f, 2.12077248e-05f,
     1.06226971e-05f, 5.10976815e-06f, 2.36176697e-06f, 1.04941591e-06f, 4.48443444e-07f, 1.84360118e-07f, 7.29382421e-08f,
     2.77770305e-08f, 0.f},
    {9.689536e-07f, 0.000327310176f, 0.000601958891f, 0.000787242025f, 0.000863872585f, 0.000834480568f, 0.000720389769f, 0.000554260216f,
     0.000371226895f, 0.000201188435f, 6.40465078e-05f, -3.15600591e-05f, -8.66209302e-05f, -0.000108470522f, -0.000107190055f,
     -9.26843641e-05f, -7.28967934e-05f, -5.31510341e-05f, -3.63175932e-05f, -2.34142153e-05f, -1.43084108e-05f, -8.31508987e-06f,
     -4.60629553e-06f, -2.43693512e-06f, -1.23301595e-06f, -5.97346514e-07f, -2.77347851e-07f, -1.23509864e-07f, -5.27885895e-08f,
     -2.16660787e-08f, -8.54335358e-09f, 0.f},
    {8.09942358e-05f, 6.80798985e-05f, 4.61550735e-05f, 1.94009499e-05f, -6.80321318e-06f, -2.78409861e-05f, -4.08813248e-05f,
     -4.52631612e-05f, -4.2229778e-05f, -3.42155727e-05f, -2.39906531e-05f, -1.39430622e-05f, -5.66345534e-06f, 1.425623e-07f,
     3.49598304e-06f, 4.86759382e-06f, 4.89992681e-06f, 4.20123752e-06f, 3.23503673e-06f, 2.29200327e-06f, 1.51408472e-06f,
     9.40205553e-07f, 5.51800952e-07f, 3.07242033e-07f, 1.6275348e-07f, 8.21965003e-08f, 3.96433215e-08f, 1.82833677e-08f,
     8.07199019e-09f, 3.41453488e-09f, 1.38495149e-09f, 0.f}};

// GELU (of erf) of values in units of 1 / scale, in the same units; scale 1 is GELU itself. NaN stays NaN, minus infinity gives 0.
class Gelu {
 public:
  __attribute__((always_inline)) explicit Gelu(float scale) : slope_(set1(32.f / 6 / scale)), end_(set1(5.99999f * scale)) {
#pragma GCC unroll 5
    for (int n = 0; n < 5; ++n)
#pragma GCC unroll 2
      for (int half = 0; half < 2; ++half) power_[n][half] = mul(load(kGeluPieces[n] + 16 * half), set1(scale));
  }
  __attribute__((always_inline)) vf operator()(vf x) const {
    const vf t = _mm512_range_ps(x, end_, 0b1010);   // the lesser magnitude; end_ of NaN, which the maximum keeps
    const vf whole = set1(8388608.f), piece = _mm512_fmadd_round_ps(t, slope_, whole, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    const vf r = fma(t, slope_, sub(whole, piece));
    vf s = power(4, piece);
#pragma GCC unroll 4
    for (int n = 3; n >= 0; --n) s = fma(s, r, power(n, piece));
    return sub(max(zero(), x), s);
  }

 private:
  __attribute__((always_inline)) vf power(int n, vf piece) const {
    return _mm512_permutex2var_ps(power_[n][0], as_int(piece), power_[n][1]);
  }
  vf slope_, end_, power_[5][2];
};

}  // namespace tenfold::simd
#endif
