// What the fuzzers of plans share: how their bytes become a Plan. Checksums would keep a fuzzer at the door, so the first byte chooses:
// a whole file as it is; a whole file whose checksums are made right; the bytes as a metadata section beside some weights, or as the
// names of a sound plan.
#pragma once

#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "base/files/hash.h"
#include "plan/format.h"
#include "plan/read.h"
#include "plan/sample_plan_for_tests.h"
#include "plan/write.h"

namespace tenfold::fuzz {

template <class T>
T get(const std::vector<std::byte>& bytes, std::size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// What an enemy would do: right checksums and lengths around whatever the sections hold.
inline std::vector<std::byte> sign(std::span<const std::byte> from) {
  using namespace plan;
  std::vector<std::byte> bytes(from.begin(), from.end());
  if (bytes.size() < kHeaderBytes) return bytes;
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  std::memcpy(bytes.data() + 8, &kFormatVersion, 4);
  const std::uint64_t size = bytes.size();
  std::memcpy(bytes.data() + 16, &size, 8);
  const std::size_t table = kTableEntryBytes * get<std::uint32_t>(bytes, 12);
  if (table > size - kHeaderBytes) return bytes;
  for (std::size_t entry = kHeaderBytes; entry < kHeaderBytes + table; entry += kTableEntryBytes) {
    const auto offset = get<std::uint64_t>(bytes, entry + 8), length = get<std::uint64_t>(bytes, entry + 16);
    if (offset > size || length > size - offset) continue;
    const std::uint64_t sum = hash64(std::span(bytes).subspan(offset, length));
    std::memcpy(bytes.data() + entry + 24, &sum, 8);
  }
  std::vector<std::byte> covered(bytes.begin(), bytes.begin() + 24);
  covered.insert(covered.end(), bytes.begin() + kHeaderBytes, bytes.begin() + static_cast<std::ptrdiff_t>(kHeaderBytes + table));
  const std::uint64_t sum = hash64(covered);
  std::memcpy(bytes.data() + 24, &sum, 8);
  return bytes;
}

// `form` is the first byte of the fuzzer's input. Throws what loading throws.
inline plan::Plan to_plan(std::uint8_t form, std::span<const std::byte> bytes) {
  if (form % 4 == 0) return plan::load(bytes);
  if (form % 4 == 1) return plan::load(sign(bytes));
  if (form % 4 == 3) {
    plan::Plan named = plan::sample_plan();
    named.names.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const std::string file = plan::serialize(named);
    return plan::load(std::as_bytes(std::span(file)));
  }
  alignas(64) static constexpr std::array<std::byte, 4096> kWeights{};
  plan::Plan p = plan::read_metadata(bytes);
  p.weights = kWeights.data(), p.weights_bytes = kWeights.size();
  return p;
}
inline bool for_cpu(std::uint8_t form) { return (form & 4) != 0; }

}  // namespace tenfold::fuzz
