// Vectors that are written as they come: what is in the file then, and after an interrupted run.
#include "formats/arrays/vector_file.h"

#include <cstring>

#include "formats/arrays/npy.h"
#include "formats/files.h"
#include "formats/formats_for_tests.h"

namespace tenfold::formats {
namespace {

constexpr float kRows[] = {1, 2, 3, 4, 0.5, -6};

void write(const std::string& path) {
  VectorFile file(path, 3, "how", false);
  file.append(std::span(kRows).first(3), "d1");
  EXPECT_FALSE(std::filesystem::exists(path));   // not before it is whole
  file.append(std::span(kRows).last(3), "d2");
  file.finish();
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
  EXPECT_FALSE(std::filesystem::exists(path + ".part.how"));
}

TEST(VectorFile, NpyFvecsAndJsonLines) {
  const Folder folder;
  for (const char* name : {"a.npy", "a.fvecs", "a.jsonl"}) write(folder / name);
  const std::string npy = read_whole(folder / "a.npy"), fvecs = read_whole(folder / "a.fvecs");
  const Tensor t = to_tensor(parse_npy(npy, "a.npy"), DType::f32, "a.npy");
  EXPECT_EQ(t.shape(), (Shape{2, 3}));
  EXPECT_EQ(std::memcmp(t.raw(), kRows, sizeof kRows), 0);
  ASSERT_EQ(fvecs.size(), 2 * (4 + 3 * 4u));   // of TEXMEX: a number of values in front of each
  EXPECT_EQ(fvecs.substr(0, 4), std::string("\x03\0\0\0", 4));
  EXPECT_EQ(std::memcmp(fvecs.data() + 20, kRows + 3, 12), 0);
  EXPECT_EQ(read_whole(folder / "a.jsonl"), "{\"embedding\": [1, 2, 3]}\n{\"embedding\": [4, 0.5, -6]}\n");
}

TEST(VectorFile, AnInterruptedRunGoesOnBehindItsLastMark) {
  const Folder folder;
  const std::string path = folder / "a.npy";
  {
    VectorFile file(path, 3, "how", false);
    file.append(std::span(kRows).first(3), "d1");
  }
  std::ofstream(path + ".part", std::ios::binary | std::ios::app) << "half a row";   // no mark says that it is whole
  EXPECT_TRUE(says(refusal([&] { VectorFile(path, 3, "another way", true); }, ErrorKind::invalid_argument), "was made by another model"));
  VectorFile file(path, 3, "how", true);
  ASSERT_TRUE(file.resumed());
  EXPECT_EQ(file.resumed()->rows, 1);
  EXPECT_EQ(file.resumed()->digest, "d1");
  file.append(std::span(kRows).last(3), "d2");
  file.finish();
  const std::string npy = read_whole(path);
  const Tensor t = to_tensor(parse_npy(npy, "a.npy"), DType::f32, "a.npy");
  EXPECT_EQ(t.shape(), (Shape{2, 3}));
  EXPECT_EQ(std::memcmp(t.raw(), kRows, sizeof kRows), 0);
}

TEST(VectorFile, OtherEndingsAreRefused) {
  EXPECT_TRUE(says(refusal([] { VectorFile("a.bin", 3, "how", false); }, ErrorKind::invalid_argument), "not '.bin'"));
  EXPECT_TRUE(says(refusal([] { VectorFile("/no/such/folder/a.npy", 3, "how", false); }), "cannot write '/no/such/folder/a.npy.part'"));
}

}  // namespace
}  // namespace tenfold::formats
