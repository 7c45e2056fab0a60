// Whose files are trusted, and which links are followed. As root, who may be anybody, the test makes files of others.
#include "base/files/trust.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/files/file.h"
#include "tenfold/error.h"

namespace tenfold {
namespace {

namespace fs = std::filesystem;

struct Trust : testing::Test {
  fs::path folder = fs::path(testing::TempDir()) / ("trust" + std::to_string(getpid()));
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }
  std::string at(const char* name) const { return (folder / name).string(); }
};

TEST_F(Trust, WhatEverybodyMayWriteIsNotTrusted) {
  write_file(at("a"), "content");
  ::chmod(at("a").c_str(), 0664);
  EXPECT_EQ(why_others_may_write(at("a")), "");
  ::chmod(at("a").c_str(), 0666);
  EXPECT_EQ(why_others_may_write(at("a")), "everybody may write it");
  ::chmod(at("a").c_str(), 0644);
  ::chmod(folder.c_str(), 0777);
  EXPECT_EQ(why_others_may_write(at("a")), "everybody may write its folder");
  ::chmod(folder.c_str(), 01777);   // as /tmp
  EXPECT_EQ(why_others_may_write(at("a")), "");
  EXPECT_EQ(why_others_may_write(at("missing")), "");
}

TEST_F(Trust, FilesAndLinksOfOthersAreNot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  write_file(at("a"), "content");
  ASSERT_EQ(::chown(at("a").c_str(), 12345, 12345), 0);
  EXPECT_EQ(why_others_may_write(at("a")), "it belongs to user 12345");
  fs::create_symlink(at("a"), at("link"));
  EXPECT_EQ(past_own_links(at("link")), fs::canonical(at("a")).string());
  { const FileLock lock(at("link")); }   // one's own is followed
  ASSERT_EQ(::lchown(at("link").c_str(), 12345, 12345), 0);
  EXPECT_THROW(past_own_links(at("link")), Error);
  EXPECT_THROW(FileLock lock(at("link")), Error);
}

TEST_F(Trust, ALockIsOnARegularFile) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_THROW(FileLock lock(at("pipe")), Error);
  fs::create_symlink(at("nowhere"), at("dangling"));
  EXPECT_THROW(FileLock lock(at("dangling")), Error);
  EXPECT_FALSE(fs::exists(at("nowhere")));
}

}  // namespace
}  // namespace tenfold
