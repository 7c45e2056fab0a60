// Short names of integers, and infinity: no CUDA header is included, so that NVRTC takes milliseconds.
#pragma once

typedef unsigned char u8; typedef signed char i8; typedef unsigned short u16; typedef unsigned int u32;
typedef long long i64; typedef unsigned long long u64;
#define INFINITY_F __int_as_float(0x7f800000)
