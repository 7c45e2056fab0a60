#include "security/restrictions.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "tenfold/error.h"

namespace tenfold::server {

Restrictions::Restrictions(const std::string& flag, const std::vector<std::string>& values) {
  for (const std::string& value : values) add(flag, value);
}

void Restrictions::add(const std::string& flag, const std::string& value) {
  const std::string form = "--" + flag + "=FAMILIES:KEY=VALUE is expected, as in --" + flag + "=inference,metadata:admin-key=secret";
  // What stands behind the first '=' may be anything. It is a secret, so no message has it.
  const std::size_t equals = value.find('='), colon = value.substr(0, equals).find(':');
  if (equals == std::string::npos || colon == std::string::npos || colon + 1 == equals || equals + 1 == value.size())
    throw Error(ErrorKind::invalid_argument, form);
  std::string key = value.substr(colon + 1, equals - colon - 1);
  std::transform(key.begin(), key.end(), key.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::istringstream families(value.substr(0, colon));
  for (std::string family; std::getline(families, family, ',');) {
    const std::optional<Api> api = api_named(family);
    if (!api)
      throw Error(ErrorKind::invalid_argument, "--" + flag + ": unknown restricted family '" + family + "': " + api_names() + " are known");
    auto& header = headers_[static_cast<std::size_t>(*api)];
    if (header) throw Error(ErrorKind::invalid_argument, "--" + flag + ": '" + family + "' is restricted twice: name it once");
    header.emplace(key, value.substr(equals + 1));
  }
}

const std::pair<std::string, std::string>* Restrictions::of(Api api) const {
  const auto& header = headers_[static_cast<std::size_t>(api)];
  return header ? &*header : nullptr;
}

}  // namespace tenfold::server
