// The vectors of RFC 4648, section 10.
#include "tenfold/internal/base64.h"

#include <gtest/gtest.h>

#include <map>

namespace tenfold {
namespace {

TEST(Base64, IsTheStandards) {
  const std::map<std::string, std::string> known{{"", ""},           {"f", "Zg=="},         {"fo", "Zm8="},        {"foo", "Zm9v"},
                                                 {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : known) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
    EXPECT_EQ(from_base64(text.substr(0, text.find('='))), bytes);   // as some writers leave it out
  }
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  EXPECT_EQ(from_base64(to_base64(all)), all);
}

TEST(Base64, SaysWhatIsNone) {
  for (const char* text : {"Zm9v!", "Zm 9v", "Zm-v", "\xff"}) EXPECT_FALSE(from_base64(text)) << text;
}

}  // namespace
}  // namespace tenfold
