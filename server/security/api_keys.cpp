#include "security/api_keys.h"

#include <algorithm>
#include <cctype>
#include <fstream>

#include "tenfold/error.h"

namespace tenfold::server {
namespace {

constexpr std::size_t kLongestKey = 4096, kMaxKeys = 100'000;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

bool is_key(std::string_view text) {
  return text.size() <= kLongestKey && std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; });
}

bool is_bearer(std::string_view scheme) {
  static constexpr std::string_view kScheme = "bearer ";
  return scheme.size() == kScheme.size() &&
         std::equal(scheme.begin(), scheme.end(), kScheme.begin(), [](unsigned char a, char b) { return std::tolower(a) == b; });
}

}  // namespace

bool same_secret(std::string_view given, std::string_view secret) {
  // As many steps as the client's text has, whatever the secret is.
  volatile unsigned char different = given.size() != secret.size();
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char expected = secret.empty() ? '\0' : secret[i % secret.size()];
    different = different | static_cast<unsigned char>(given[i] ^ expected);
  }
  return different == 0;
}

ApiKeys::ApiKeys(std::string path, const std::string& key) : path_(std::move(path)), key_(key), keys_(read()) {}

std::shared_ptr<const std::vector<std::string>> ApiKeys::read() const {
  if (!key_.empty() && !is_key(key_))
    throw Error(ErrorKind::invalid_argument, "--api-key: printable ASCII without spaces is expected, 4096 characters at most");
  if (path_.empty()) return std::make_shared<std::vector<std::string>>(1, key_);
  std::ifstream file(path_);
  if (!file) throw Error(ErrorKind::io, "--api-key-file: cannot read '" + path_ + "': a text file with one key on each line is expected");
  auto keys = std::make_shared<std::vector<std::string>>();
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const std::string_view key = trimmed(line);
    if (key.empty() || key.starts_with('#')) continue;
    if (!is_key(key) || keys->size() >= kMaxKeys)
      throw Error(ErrorKind::io, "--api-key-file: line " + std::to_string(number) + " of '" + path_ +
                                     "' is no key: printable ASCII without spaces is expected, 4096 characters at most");
    keys->emplace_back(key);
  }
  // An empty file would let nobody in, which is seldom what was meant: a deployment with a secret that was not mounted.
  if (keys->empty()) throw Error(ErrorKind::io, "--api-key-file: '" + path_ + "' has no keys: one on each line is expected");
  if (!key_.empty()) keys->push_back(key_);
  return keys;
}

void ApiKeys::reload() {
  auto keys = read();
  const std::lock_guard lock(mutex_);
  keys_ = std::move(keys);
}

bool ApiKeys::accept(std::string_view authorization) const {
  if (authorization.size() > kLongestKey + 16 || !is_bearer(authorization.substr(0, 7))) return false;
  const std::string_view given = trimmed(authorization.substr(7));
  std::shared_ptr<const std::vector<std::string>> keys;
  {
    const std::lock_guard lock(mutex_);
    keys = keys_;
  }
  bool found = false;
  for (const std::string& key : *keys) found |= same_secret(given, key);   // all of them, whichever it is
  return found;
}

}  // namespace tenfold::server
