// Whole files, and what is none.
#include "formats/files.h"

#include "formats/formats_for_tests.h"

namespace tenfold::formats {
namespace {

TEST(Files, AreReadWholeOrInPart) {
  const Folder folder;
  const std::string path = folder.write("a.BIN", std::string("a\0b", 3));
  EXPECT_EQ(read_whole(path), std::string("a\0b", 3));
  EXPECT_EQ(read_at_most(path, 2), std::string("a\0", 2));
  EXPECT_EQ(read_at_most(path, 9).size(), 3u);
  EXPECT_EQ(size_of_file(path), 3);
  EXPECT_EQ(size_of_file("/dev/zero"), -1);
  EXPECT_EQ(extension(path), ".bin");
  EXPECT_EQ(extension("a.b/c"), "");
}

TEST(Files, RefusalsNameThePathAndWhy) {
  const Folder folder;
  EXPECT_TRUE(says(refusal([&] { read_whole(folder / "none"); }), "none': No such file or directory"));
  EXPECT_TRUE(says(refusal([&] { read_whole(folder / ""); }), "it is a folder"));
  EXPECT_TRUE(says(refusal([] { read_whole("/dev/zero"); }), "cannot read '/dev/zero': it is no file, and gave more than"));
  EXPECT_TRUE(says(refusal([&] { expect_writable(folder / "no/file"); }), "cannot write '"));
  EXPECT_TRUE(says(refusal([&] { expect_writable(folder / ""); }), "it is a folder"));
  EXPECT_NO_THROW(expect_writable(folder / "new"));
  EXPECT_NO_THROW(expect_writable(""));
}

}  // namespace
}  // namespace tenfold::formats
