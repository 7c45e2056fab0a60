// A function's form for AVX-512, in whole registers.
#pragma once

#ifdef __clang__   // which ignores all of the attribute for a word that it does not know
#define TENFOLD_AVX512 [[gnu::target("avx512f,avx512vl")]]
#else
#define TENFOLD_AVX512 [[gnu::target("avx512f,avx512vl,prefer-vector-width=512")]]
#endif
