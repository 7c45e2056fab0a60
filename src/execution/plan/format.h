// The plan file's outer form: a checksummed header with a table of checksummed sections.
//
//   0   magic (8 bytes)   format version (u32)   number of sections (u32)   bytes of the file (u64)
//   24  XXH3 of the 24 bytes before and of the table (u64)
//   32  table: for each section id (u32), flags (u32), offset (u64), bytes (u64), checksum (u64; checksum.h)
//
// Sections follow in the table's order; the bytes between them are zero. Numbers are little endian.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

namespace tenfold::plan {

static_assert(std::endian::native == std::endian::little, "plan files hold numbers as the machine does");

inline constexpr std::string_view kMagic{"\x89TFPLAN\n", 8};   // the first byte and the line end show a transfer as text
inline constexpr std::uint32_t kFormatVersion = 10;            // raised when the meaning of any section changes
inline constexpr std::size_t kHeaderBytes = 32, kTableEntryBytes = 32;
inline constexpr std::uint32_t kMaxSections = 64;
inline constexpr std::size_t kMaxRank = 64;                    // dims of an operand
inline constexpr std::size_t kWeightsAlignment = 4096, kSectionAlignment = 64, kConstantAlignment = 64;

enum class SectionId : std::uint32_t {
  metadata = 1, weights = 2, portable = 3, refit = 4, refit_tensors = 5, code = 6, labels = 7, kept_model = 8, kept_weights = 9,
  built = 10, names = 11,
  builder = 12   // the library that built it, in words: every version reads it
};
enum SectionFlags : std::uint32_t {
  kOptional = 1,   // a reader that does not know the section may skip it
  kInPieces = 2,   // its checksum is that of its pieces' checksums
};

struct Section {
  SectionId id{};
  std::uint32_t flags = 0;
  std::uint64_t offset = 0, bytes = 0, checksum = 0;
};

}  // namespace tenfold::plan
