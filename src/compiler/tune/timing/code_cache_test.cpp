// The kernel cache's file: merged, and of no harm when it is damaged or something else.
#include "tune/timing/code_cache.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/files/file.h"

namespace tenfold::tune {
namespace {

backends::CodeList codes(std::initializer_list<std::uint64_t> keys) {
  backends::CodeList list;
  for (std::uint64_t key : keys)
    list.push_back(std::make_shared<const backends::Code>(backends::Code{{key, 0}, "a compiler", "image " + std::to_string(key)}));
  return list;
}

struct CodeCacheFile : testing::Test {
  std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / ("kernels" + std::to_string(getpid()));
  std::string path = code_cache_path((folder / "timing.cache").string());
  std::string warnings;
  Log log{[this](Severity, std::string_view text) { warnings += std::string(text) + "\n"; }};
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }
};

TEST_F(CodeCacheFile, MergesWithWhatIsThere) {
  save_code(path, codes({1, 2}), log);
  save_code(path, codes({2, 3}), log);
  const backends::CodeList list = load_code(path, log);
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[2]->image, "image 3");
  EXPECT_EQ(warnings, "");
}

TEST_F(CodeCacheFile, DamageCostsOnlyWhatFollows) {
  save_code(path, codes({1, 2, 3}), log);
  std::string text = read_file(path);
  text.back() ^= 1;
  write_file(path, text);
  EXPECT_EQ(load_code(path, log).size(), 2u);
  EXPECT_NE(warnings.find("damaged"), std::string::npos);
  save_code(path, codes({3}), log);
  warnings.clear();
  EXPECT_EQ(load_code(path, log).size(), 3u);
  EXPECT_EQ(warnings, "");
}

TEST_F(CodeCacheFile, AnotherFileIsKeptAside) {
  write_file(path, std::string_view("my diary\n"));
  EXPECT_TRUE(load_code(path, log).empty());
  save_code(path, codes({1}), log);
  EXPECT_EQ(read_file(path + ".damaged"), "my diary\n");
  EXPECT_NE(warnings.find("kept as '" + path + ".damaged'"), std::string::npos) << warnings;
  EXPECT_EQ(load_code(path, log).size(), 1u);
}

TEST_F(CodeCacheFile, WhatEverybodyMayWriteIsNotRun) {
  save_code(path, codes({1, 2}), log);
  std::filesystem::permissions(path, std::filesystem::perms::all);
  EXPECT_TRUE(load_code(path, log).empty());
  EXPECT_NE(warnings.find("holds machine code and everybody may write it"), std::string::npos) << warnings;
  save_code(path, codes({3}), log);   // a file of this user's takes its place, without the others' kernels
  EXPECT_EQ(load_code(path, log).size(), 1u);
}

TEST_F(CodeCacheFile, NoTimingCacheMeansNoFile) {
  EXPECT_EQ(code_cache_path(""), "");
  save_code("", codes({1}), log);
  EXPECT_TRUE(load_code("", log).empty());
  EXPECT_TRUE(load_code(path, log).empty());
  EXPECT_EQ(warnings, "");
}

}  // namespace
}  // namespace tenfold::tune
