// What a plan cache remembers of large files, and when it does not.
#include "runtime/engine/known_hashes.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/files/hash.h"
#include "tenfold/plan_cache.h"

namespace tenfold::runtime {
namespace {

namespace fs = std::filesystem;
constexpr RememberedFiles kAll{.bytes = 1, .seconds = -1};   // also small ones that were written just now

class KnownHashes : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    write("some weights");
  }
  void TearDown() override { fs::remove_all(folder_); }
  void write(const std::string& text) const { std::ofstream(file_, std::ios::binary) << text; }
  std::string hash(const RememberedFiles& which = kAll) const { return hash_of_file(file_, folder_, which); }
  fs::path entry() const {
    for (const fs::directory_entry& one : fs::directory_iterator(folder_))
      if (one.path().extension() == kHashEnding) return one.path();
    return {};
  }
  // Puts another hash in the place of the remembered one: what is returned then shows where it comes from.
  void forge(const std::string& hash) const {
    std::ifstream in(entry());
    std::string text(std::istreambuf_iterator<char>(in), {});
    text.resize(text.rfind('\n', text.size() - 2) + 1);
    std::ofstream(entry()) << text << hash << "\n";
  }
  const std::string folder_ = testing::TempDir() + "known_hashes_test", file_ = folder_ + "/model.safetensors";
};

TEST_F(KnownHashes, AreThoseOfTheBytes) {
  const std::string_view bytes = "some weights";
  char text[48];
  std::snprintf(text, sizeof text, "12:%016llx%016llx", static_cast<unsigned long long>(hash64(bytes)),
                static_cast<unsigned long long>(hash64(bytes, 1)));
  EXPECT_EQ(hash({}), text);
  EXPECT_TRUE(entry().empty()) << "a small file is none to remember";
  EXPECT_EQ(hash(), text);
  EXPECT_EQ(hash(), text);
  EXPECT_EQ(PlanCache({.folder = folder_}).file_hash(file_), text);
  EXPECT_THROW(hash_of_file(folder_ + "/none", folder_), Error);
}

TEST_F(KnownHashes, AreReadAgainWhileTheFileStays) {
  const std::string first = hash();
  forge("12:known");
  EXPECT_EQ(hash(), "12:known");
  EXPECT_EQ(hash({.bytes = 1, .seconds = 60}), first) << "written less than a minute ago";
  EXPECT_EQ(hash({.bytes = 13, .seconds = -1}), first) << "too small";
}

TEST_F(KnownHashes, AreNotThoseOfAnotherFile) {
  const std::string first = hash();
  forge("12:known");
  const auto time = fs::last_write_time(file_);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));   // as coarse as clocks of file systems are
  write("more weights");   // as long, and by its times as old
  fs::last_write_time(file_, time);
  EXPECT_NE(hash(), first);
  EXPECT_NE(hash(), "12:known");
  write("some weights");
  forge("12:known");
  const std::string other = folder_ + "/other";
  fs::rename(file_, other);
  fs::copy_file(other, file_);
  EXPECT_EQ(hash(), first);
  EXPECT_EQ(hash_of_file(other, folder_, kAll), first);
}

TEST_F(KnownHashes, AreNotBelievedWhereTheyAreDamagedOrOthersMayWrite) {
  const std::string first = hash();
  const fs::path at = entry();
  for (const char* text : {"", "tenfold file hash 1\n", "\n\n\n\n"}) {
    std::ofstream(at) << text;
    EXPECT_EQ(hash(), first) << text;
  }
  forge("12:known");
  fs::permissions(at, fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(hash(), first);
}

TEST_F(KnownHashes, GoWithTheCache) {
  hash();
  ASSERT_FALSE(entry().empty());
  EXPECT_EQ(PlanCache({.folder = folder_}).clear(), 0) << "they are no plans";
  EXPECT_TRUE(entry().empty());
  EXPECT_TRUE(fs::exists(file_));
}

}  // namespace
}  // namespace tenfold::runtime
