#include "requests.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace tenfold::load {
namespace {

class Reader {
 public:
  explicit Reader(std::string bytes) : bytes_(std::move(bytes)) {}
  std::string take(std::size_t size) {
    if (size > bytes_.size() - at_) throw std::runtime_error("the file of requests is cut off at byte " + std::to_string(at_));
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  std::uint32_t number() {
    std::uint32_t value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<Request> read_requests(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path + ", the file of requests");
  Reader reader(std::string(std::istreambuf_iterator<char>(file), {}));
  std::vector<Request> requests(reader.number());
  for (Request& request : requests) {
    request.bytes = reader.take(reader.number());
    request.tag = reader.take(reader.number());
    request.timeout_us = reader.number();
    request.expected.resize(reader.number());
    const std::string values = reader.take(request.expected.size() * sizeof(float));
    std::memcpy(request.expected.data(), values.data(), values.size());
  }
  if (requests.empty()) throw std::runtime_error(path + " has no requests");
  return requests;
}

bool answers(const Request& request, std::string_view body) {
  if (!request.tag.empty() && body.find(request.tag) == std::string_view::npos) return false;
  const std::size_t bytes = request.expected.size() * sizeof(float);
  if (bytes > body.size()) return false;
  float largest = 0;
  for (const float value : request.expected) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < request.expected.size(); ++i) {
    float got = 0;
    std::memcpy(&got, body.data() + body.size() - bytes + i * sizeof got, sizeof got);
    if (!(std::abs(got - request.expected[i]) <= 1e-5F * largest)) return false;   // NaN is wrong
  }
  return true;
}

}  // namespace tenfold::load
