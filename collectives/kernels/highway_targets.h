// Which vector units the kernels are compiled for; before any Highway header.
//
// SSSE3 is left to the scalar fallback: processors without SSE4 are older than
// any network this library runs on, and each target costs build time. Under a
// sanitizer, whose checks make vector code very slow to compile, the fallback
// and AVX2 stand for the rest.
//
// Thread-safety, ownership, failure: only macros.
//
// Example: reduce.cc, which includes this before hwy/foreach_target.h.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3)
#else
#define HWY_DISABLED_TARGETS HWY_SSSE3
#endif
