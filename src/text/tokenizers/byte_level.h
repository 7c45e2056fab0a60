// The letters that byte-level tokenizers write for bytes: those that can be seen stand for themselves, others from U+0100 on.
#pragma once

#include <array>
#include <cstdint>

#include "text/chars.h"

namespace tenfold::tokenizing {

constexpr char32_t kMaxByteLetter = 0x143;
extern const std::array<char32_t, 256> kByteLetters;
int byte_of(char32_t letter);   // -1: it stands for none

std::size_t utf8_length(std::span<const Char> chars);
// Writes the letters of the bytes of `chars`, each with the place of its character; `out` has utf8_length() of them.
void write_byte_letters(std::span<const Char> chars, Char* out);

}  // namespace tenfold::tokenizing
