// Keys of clients: a file with one on each line.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace tenfold::server {

// Whether both are the same; the time does not tell where they differ.
bool same_secret(std::string_view given, std::string_view secret);

// Thread safe. Keys are in no message.
class ApiKeys {
 public:
  // Reads the file, if there is one; `key` is one more, if it is not empty. Throws Error
  explicit ApiKeys(std::string path, const std::string& key = "");
  // Reads it again. Throws Error: then all stays as it was.
  void reload();
  // `authorization`: the header's value, "Bearer KEY".
  bool accept(std::string_view authorization) const;

 private:
  std::shared_ptr<const std::vector<std::string>> read() const;
  const std::string path_, key_;
  mutable std::mutex mutex_;
  std::shared_ptr<const std::vector<std::string>> keys_;
};

}  // namespace tenfold::server
