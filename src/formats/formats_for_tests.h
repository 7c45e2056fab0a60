// What tests of formats share: files from base64, folders that vanish, and errors by their words.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tenfold/error.h"
#include "tenfold/internal/base64.h"

namespace tenfold::formats {

inline std::string bytes_of(const char* base64) { return from_base64(base64).value(); }

// The text of the Error that `run` throws; "" and a failed test where it throws none, or one of another kind.
template <class Run>
std::string refusal(Run run, ErrorKind kind = ErrorKind::io) {
  try {
    run();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "nothing is refused";
  return "";
}

// Whether `text` has the words, for messages.
inline testing::AssertionResult says(const std::string& text, const std::string& words) {
  if (text.find(words) != text.npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << words << "' is not in '" << text << "'";
}

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "formats_test_XXXXXX").string();
    if (mkdtemp(name.data())) path_ = name;
    EXPECT_FALSE(path_.empty());
  }
  ~Folder() {
    std::error_code none;
    std::filesystem::remove_all(path_, none);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return *this / name;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace tenfold::formats
