// PCRE2, opened at run time: only tokenizers with unusual patterns need it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenfold::tokenizing {

// What is used of its functions for 8-bit units, as pcre2.h declares them.
struct Pcre2Library {
  static const Pcre2Library* opened();   // null: it is not installed

  void* (*compile)(const std::uint8_t*, std::size_t, std::uint32_t, int*, std::size_t*, void*);
  int (*error_message)(int, std::uint8_t*, std::size_t);
  int (*jit_compile)(void*, std::uint32_t);
  void (*free_code)(void*);
  void* (*make_data)(std::uint32_t, void*);
  void (*free_data)(void*);
  std::size_t* (*places)(void*);
  void* (*make_context)(void*);
  void (*free_context)(void*);
  int (*set_match_limit)(void*, std::uint32_t);
  int (*set_heap_limit)(void*, std::uint32_t);
  int (*set_offset_limit)(void*, std::size_t);
  int (*match)(const void*, const std::uint8_t*, std::size_t, std::size_t, std::uint32_t, void*, void*);
};

namespace pcre2 {
constexpr std::uint32_t kMultiline = 0x400, kUtf = 0x80000, kNoByteOfUtf = 0x100000, kOffsetLimit = 0x800000;   // to compile
constexpr std::uint32_t kNoUtfCheck = 0x40000000, kNoJit = 0x2000;                                              // to match
constexpr std::uint32_t kJitComplete = 1;
constexpr int kNoMatch = -1, kJitStackLimit = -46;
}  // namespace pcre2

}  // namespace tenfold::tokenizing
