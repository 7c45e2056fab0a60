// Records of machine code: read back as written, and never further than the first damage.
#include "backends/code.h"

#include <gtest/gtest.h>

namespace tenfold::backends {
namespace {

std::shared_ptr<const Code> code(std::uint64_t key) {
  return std::make_shared<const Code>(Code{{key, 7}, "NVRTC 13.0", std::string(key * 10, static_cast<char>(key))});
}
std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST(Code, ComesBackSortedAndOnce) {
  const std::string file = write_code({code(3), code(1), code(3)});
  bool damaged = true;
  const CodeList list = read_code(bytes(file), damaged);
  EXPECT_FALSE(damaged);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0]->key, (Hash128{1, 7}));
  EXPECT_EQ(list[1]->image, code(3)->image);
  EXPECT_EQ(list[1]->compiler, "NVRTC 13.0");
}

TEST(Code, AnyFlippedByteAndAnyCutIsNoticed) {
  const std::string file = write_code({code(1), code(2)});
  bool damaged = false;
  for (std::size_t at = 0; at < file.size(); ++at) {
    std::string bad = file;
    bad[at] = static_cast<char>(bad[at] ^ 16);
    EXPECT_LT(read_code(bytes(bad), damaged).size(), 2u) << at;
    EXPECT_TRUE(damaged) << at;
    const std::size_t whole = read_code(bytes(file.substr(0, at)), damaged).size();
    EXPECT_LT(whole, 2u);
    if (at != 0 && whole == 0) {
      EXPECT_TRUE(damaged) << at;
    }
  }
}

}  // namespace
}  // namespace tenfold::backends
