// The folder of a suite: as it is given, or unpacked from an archive for as long as this lives.
#pragma once

#include <string>

namespace tenfold::cli {

class SuiteFolder {
 public:
  // Archives are unpacked by the program tar, into a folder of their own in the system's one for temporary files. Throws UsageError, Error.
  explicit SuiteFolder(const std::string& folder_or_archive);
  ~SuiteFolder();
  SuiteFolder(const SuiteFolder&) = delete;
  SuiteFolder& operator=(const SuiteFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool is_ours_ = false;
};

}  // namespace tenfold::cli
