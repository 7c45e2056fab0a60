// What specializes kernels with a thread for each element, with values for editors and the check of syntax; codegen/threads.cpp prints
// those of a problem.
#pragma once

#ifndef CONFIGURED
#define INPUTS 9
#define OUTPUTS 3
#define INDEX u32            // by which places are divided
#define THREADS 256
#define EPILOGUE ((TY0*)a.out[0].p)[offset<RANKY0>(a.out[0], at)] = STOREY0((CY0)r);
// Of input i: types of storing and computing, from one to the other and back, dims, whether there is one, whether no epilogue has it.
#define T0 u16
#define C0 float
#define LOAD0(x) from_f16(x)
#define STORE0(x) to_f16(x)
#define RANK0 4
#define GIVEN0 1
#define OWN0 1
#define T1 u16
#define C1 float
#define LOAD1(x) from_f16(x)
#define STORE1(x) to_f16(x)
#define RANK1 4
#define GIVEN1 1
#define OWN1 1
#define T2 u16
#define C2 float
#define LOAD2(x) from_f16(x)
#define STORE2(x) to_f16(x)
#define RANK2 4
#define GIVEN2 1
#define OWN2 1
#define T3 u16
#define C3 float
#define LOAD3(x) from_f16(x)
#define STORE3(x) to_f16(x)
#define RANK3 4
#define GIVEN3 1
#define OWN3 1
#define T4 u16
#define C4 float
#define LOAD4(x) from_f16(x)
#define STORE4(x) to_f16(x)
#define RANK4 4
#define GIVEN4 1
#define OWN4 1
// Of an output.
#define TY0 u16
#define CY0 float
#define STOREY0(x) to_f16(x)
#define RANKY0 4
#endif
