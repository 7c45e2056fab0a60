// Restricted families of endpoints, as Triton has them: "inference,metadata:KEY=VALUE".
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "security/api.h"

namespace tenfold::server {

class Restrictions {
 public:
  // Each is the value of a flag, which `flag` names. Throws Error for one that cannot be read, or restricts a family twice.
  Restrictions(const std::string& flag, const std::vector<std::string>& values);
  // The header that requests must have, and its value; null: any may come.
  const std::pair<std::string, std::string>* of(Api api) const;

 private:
  void add(const std::string& flag, const std::string& value);
  std::array<std::optional<std::pair<std::string, std::string>>, kApis> headers_;
};

}  // namespace tenfold::server
