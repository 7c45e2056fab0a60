// XXH3 against values published with the algorithm, and the parts of a log.
#include "base/files/hash.h"

#include <gtest/gtest.h>

#include "base/log.h"

namespace tenfold {
namespace {

TEST(Hash, KnownValues) {
  EXPECT_EQ(hash64(std::string_view("")), 0x2D06800538D394C2u);            // XXH3_64bits of nothing, seed 0
  EXPECT_EQ(hash128(std::string_view("")), (Hash128{0x6001C324468D497Fu, 0x99AA06D3014798D8u}));
  EXPECT_NE(hash64(std::string_view("a")), hash64(std::string_view("b")));
  EXPECT_NE(hash64(std::string_view("a"), 1), hash64(std::string_view("a"), 2));
}

TEST(Log, FiltersBySeverity) {
  std::string seen;
  const Log log([&](Severity severity, std::string_view text) { seen += std::string(name(severity)) + ":" + std::string(text) + ";"; },
                Severity::warning);
  log(Severity::info, "quiet");
  log(Severity::error, "n=", 3);
  EXPECT_EQ(seen, "error:n=3;");
  Log()(Severity::error, "nobody listens");
}

}  // namespace
}  // namespace tenfold
