// .npz: archives of NumPy's, stored, deflated and as zip64, and archives that are damaged.
#include "formats/arrays/npz.h"

#include <array>

#include "formats/arrays/cases_for_tests.h"
#include "formats/formats_for_tests.h"

namespace tenfold::formats {
namespace {

std::uint64_t number_at(const std::string& bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = count; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}
void put_at(std::string& bytes, std::size_t at, std::uint64_t value, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) bytes[at + i] = static_cast<char>(value >> 8 * i);
}
// Where the archive's directory begins, of a plain zip without a comment.
std::size_t directory_of(const std::string& bytes) { return number_at(bytes, bytes.size() - 6, 4); }
std::string archive(int number) { return bytes_of(kArchives[number].base64); }
std::string refused(const std::string& file) {
  return refusal([&] { parse_npz(file, "a.npz"); });
}

TEST(Npz, ArchivesOfNumPy) {
  for (const FileCase& one : kArchives) {
    SCOPED_TRACE(one.name);
    const std::string file = bytes_of(one.base64);
    const auto arrays = parse_npz(file, "a.npz");
    ASSERT_EQ(arrays.size(), 2u);
    const Tensor a = to_tensor(arrays.at("a"), DType::f32, "a"), b = to_tensor(arrays.at("b"), DType::i64, "b");
    EXPECT_EQ(a.shape(), Shape{2});
    EXPECT_EQ(a.as_double(0), 1.5);
    EXPECT_EQ(a.as_double(1), -2.5);
    EXPECT_EQ(b.shape(), (Shape{3, 1}));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(b.as_int(i), 7 + i);
  }
}

TEST(Npz, WhatIsWrittenIsReadAgain) {
  Tensor a(DType::f32, {2, 2});
  for (int i = 0; i < 4; ++i) a.mutable_data<float>()[i] = static_cast<float>(i) / 4;
  const std::string file = to_npz({{"first", a}, {"ä/b", Tensor::strings({1}, {"text"})}});
  const auto arrays = parse_npz(file, "a.npz");
  ASSERT_EQ(arrays.size(), 2u);
  EXPECT_EQ(to_tensor(arrays.at("first"), "a").as_double(3), 0.75);
  EXPECT_EQ(to_tensor(arrays.at("ä/b"), "a").string_values(), std::vector<std::string>{"text"});
  EXPECT_TRUE(parse_npz(to_npz({}), "a.npz").empty());
}

TEST(Npz, EveryShorterFileIsRefused) {
  for (const FileCase& one : kArchives) {
    const std::string file = bytes_of(one.base64);
    for (std::size_t length = 0; length < file.size(); ++length)
      EXPECT_TRUE(says(refused(file.substr(0, length)), "a.npz")) << one.name << " of " << length;
  }
}

// Any byte may be any other: what is read then may be the same or nothing, and no other exception leaves the reader.
TEST(Npz, EveryDamagedByteIsBorneOrRefused) {
  for (const FileCase& one : kArchives) {
    std::string file = bytes_of(one.base64);
    for (char& byte : file)
      for (const char flip : {'\x01', '\xFF'}) {
        byte = static_cast<char>(byte ^ flip);
        try {
          for (const auto& [name, array] : parse_npz(file, "a.npz")) EXPECT_FALSE(array.data.data() == nullptr);
        } catch (const Error& e) {
          EXPECT_EQ(e.kind(), ErrorKind::io) << e.what();
        }
        byte = static_cast<char>(byte ^ flip);
      }
  }
}

TEST(Npz, ChecksumsAreChecked) {
  std::string file = archive(0);
  file[185] = static_cast<char>(file[185] ^ 1);   // in the data of 'a', which end at 191
  EXPECT_TRUE(says(refused(file), "the checksum of 'a.npy' is wrong"));
}

TEST(Npz, FieldsOfTheDirectoryAreChecked) {
  const auto with = [](int number, std::size_t field, std::uint64_t value, std::size_t bytes) {
    std::string file = archive(number);
    put_at(file, directory_of(file) + field, value, bytes);
    return refused(file);
  };
  EXPECT_TRUE(says(with(0, 0, 0, 4), "the archive's directory is damaged"));
  EXPECT_TRUE(says(with(0, 10, 12, 2), "compressed by method 12"));
  EXPECT_TRUE(says(with(0, 20, 7, 4), "'a.npy' is damaged"));                   // a stored size that is not the full one
  EXPECT_TRUE(says(with(0, 28, 65535, 2), "the archive ends too early"));       // the length of a name
  EXPECT_TRUE(says(with(0, 42, 0xFFFFFFF0u, 4), "the archive ends too early")); // where the member lies
  EXPECT_TRUE(says(with(0, 42, 1, 4), "'a.npy' is damaged"));
  EXPECT_TRUE(says(with(1, 24, 0xFFFFFFF0u, 4), "its size is damaged"));        // more than deflate can stand for
  EXPECT_TRUE(says(with(1, 24, 60, 4), "the compressed data is damaged"));      // less than it stands for
  EXPECT_TRUE(says(with(1, 24, 999, 4), "bytes, not 999"));
  EXPECT_TRUE(says(refused(bytes_of(kBzip2)), "'a.npy' is compressed by method 12; numpy.savez and savez_compressed can be read"));
  EXPECT_TRUE(says(refused("PK"), "this is no .npz archive, or it is cut off"));
}

TEST(Npz, Zip64NumbersAreChecked) {
  std::string file = archive(2);
  const std::size_t locator = file.size() - 42, end64 = number_at(file, locator + 8, 8);
  put_at(file, locator + 8, ~std::uint64_t{0}, 8);
  EXPECT_TRUE(says(refused(file), "the archive ends too early"));
  put_at(file, locator + 8, end64 - 1, 8);
  EXPECT_TRUE(says(refused(file), "the archive's zip64 record is damaged"));
  put_at(file, locator + 8, end64, 8);
  put_at(file, end64 + 32, ~std::uint64_t{0}, 8);   // so many members
  EXPECT_TRUE(says(refused(file), "the archive's directory is damaged"));
  put_at(file, end64 + 48, ~std::uint64_t{0} - 3, 8);
  EXPECT_TRUE(says(refused(file), "the archive ends too early"));
}

// A directory that names one deflated member many times: each entry would be unpacked anew.
TEST(Npz, EntriesThatShareBytesAreRefused) {
  const std::string file = archive(1);
  const std::size_t begin = directory_of(file), entry = 46 + 5 + number_at(file, begin + 30, 2);
  std::string many = file.substr(0, begin);
  constexpr std::uint64_t kCount = 100;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    many += file.substr(begin, entry);
    many[many.size() - entry + 46] = static_cast<char>('a' + i % 26);
  }
  std::string end = file.substr(file.size() - 22);
  put_at(end, 8, kCount, 2), put_at(end, 10, kCount, 2), put_at(end, 12, kCount * entry, 4);
  EXPECT_TRUE(says(refused(many + end), "the archive's entries overlap, at '"));
}

}  // namespace
}  // namespace tenfold::formats
