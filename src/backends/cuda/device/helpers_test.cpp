// Where the helper that compiles is looked for: beside the library first, for the program may be any that loads it.
#include "backends/cuda/device/helpers.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "tenfold/error.h"

namespace tenfold::backends::cuda {
namespace {

namespace fs = std::filesystem;

class HelperPlaces : public testing::Test {
 protected:
  HelperPlaces() : root_(fs::path(testing::TempDir()) / ("helpers" + std::to_string(::getpid()))) {}
  ~HelperPlaces() override { fs::remove_all(root_); }
  fs::path file(const std::string& name, bool executable = true) {
    const fs::path path = root_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "#!/bin/sh\n";
    fs::permissions(path, executable ? fs::perms::owner_all : fs::perms::owner_read);
    return path;
  }
  static bool same(const std::string& found, const fs::path& expected) { return !found.empty() && fs::equivalent(found, expected); }

  fs::path root_;
};

TEST(HelperMessages, HoldASourceAndItsFiles) {
  const std::string one = "#pragma once\n", two(3, '\0');
  const std::string packed = pack_source("#include \"one\"\n 7 x", {{"one", one}, {"two", two}});
  const PackedSource back = unpack_source(packed);
  EXPECT_EQ(back.source, "#include \"one\"\n 7 x");
  ASSERT_EQ(back.files.size(), 2u);
  EXPECT_EQ(back.files[0].name, "one");
  EXPECT_EQ(back.files[0].text, one);
  EXPECT_EQ(back.files[1].text, two);
  for (std::size_t cut = 1; cut <= packed.size(); ++cut) EXPECT_THROW(unpack_source(packed.substr(0, packed.size() - cut)), Error) << cut;
}

TEST_F(HelperPlaces, BesideTheLibraryBeforeTheProgram) {
  const fs::path python = file("usr/bin/python"), package = file("site-packages/tenfold/libtenfold.so.0");
  EXPECT_EQ(helper_of(package, python), "");
  const fs::path others = file("usr/bin/tenfold-nvrtc");
  EXPECT_TRUE(same(helper_of(package, python), others));
  const fs::path ours = file("site-packages/tenfold/bin/tenfold-nvrtc");
  EXPECT_TRUE(same(helper_of(package, python), ours));
}

TEST_F(HelperPlaces, OfAnInstalledTree) {
  const fs::path program = file("usr/bin/tenfold"), library = file("usr/lib/libtenfold.so.0"),
                 wide = file("usr/lib/x86_64/libtenfold.so.0");
  const fs::path helper = file("usr/libexec/tenfold/tenfold-nvrtc");
  EXPECT_TRUE(same(helper_of({}, program), helper));
  EXPECT_TRUE(same(helper_of(library, "/bin/sh"), helper));
  EXPECT_TRUE(same(helper_of(wide, "/bin/sh"), helper));
}

TEST_F(HelperPlaces, NothingThatCannotBeRun) {
  const fs::path program = file("bin/tenfold");
  file("bin/tenfold-nvrtc", false);
  if (::geteuid() != 0) {   // root may be allowed what others may not
    EXPECT_EQ(helper_of({}, program), "");
  }
  EXPECT_EQ(helper_of({}, {}), "");
}

// This test holds the code itself, so its own folder is asked.
TEST_F(HelperPlaces, ProgramsThatHoldTheCodeHaveNoLibrary) {
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  const std::string found = find_helper();
  EXPECT_TRUE(found.empty() || fs::path(found).parent_path() == here) << found;
}

}  // namespace
}  // namespace tenfold::backends::cuda
