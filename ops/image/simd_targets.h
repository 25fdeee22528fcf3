// What a file of SIMD kernels includes before Highway: which instruction sets it is compiled for.
//
// A family of kernels is three files. `NAME_kernels.h` has a struct of function pointers and the function that chooses
// one. `NAME_kernels_scalar.cc` has plain C++, the reference. `NAME_kernels.cc` has the SIMD code, which Highway
// compiles once for each instruction set, in a namespace of its own; convert_kernels.cc is the pattern.
//
// On x86-64 these are SSE4, AVX2, and AVX-512 with VBMI and VNNI. What Highway cannot say may be written in intrinsics
// inside `#if HWY_TARGET == HWY_AVX3_DL` (decisions.md 6), with the scalar kernel as oracle.
//
// Templates and inline functions of the standard library must not be called between HWY_BEFORE_NAMESPACE and
// HWY_AFTER_NAMESPACE where they could be compiled as functions of their own: the linker keeps one copy of them,
// perhaps that for AVX-512.
#pragma once

#if defined(__x86_64__)
#define HWY_BASELINE_TARGETS HWY_SSE4  // before any of it is called, the CPU is asked whether it has it
#define HWY_WANT_AVX3_DL
#define HWY_DISABLED_TARGETS (HWY_AVX3 | 0x7FLL)  // 0x7F: newer than AVX3_DL, in Highway 1.0.4 and later
#endif
