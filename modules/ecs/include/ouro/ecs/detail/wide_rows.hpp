#pragma once

// Before a loop over rows: several of them at once where the compiler may, whatever it thinks that costs.
//
// For wasm32 clang 19 takes components of several fields for not worth it, and is wrong by a factor of three;
// see decision 0026. OURO_INTERLEAVES is defined where it was told how to read them (wasm-toolchain.cmake).
#ifdef OURO_INTERLEAVES
#    define OURO_WIDE_ROWS _Pragma("clang loop vectorize(enable)")
#else
#    define OURO_WIDE_ROWS
#endif

// The same before the loop over the rows of a first block, whose number the compiler knows: where archetypes
// are many and small, counting rows is as much work as what is done with them.
#if defined(__GNUC__) && !defined(__clang__)
#    define OURO_FEW_ROWS _Pragma("GCC unroll 4")
#else
#    define OURO_FEW_ROWS OURO_WIDE_ROWS
#endif
