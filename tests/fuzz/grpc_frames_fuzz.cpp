// gRPC's messages in any bytes and any pieces: what is read does not depend on the pieces, and no more is held than arrived.
#include <cstdlib>
#include <vector>

#include "grpc/frames.h"

using namespace tenfold::server::grpc;

namespace {

constexpr std::size_t kMax = 4096;

std::vector<std::string> read(std::string_view bytes, std::size_t step, bool& fault) {
  FrameReader reader(kMax);
  std::vector<std::string> frames;
  for (std::size_t i = 0; i < bytes.size(); i += step) {
    reader.push(bytes.substr(i, step));
    for (Frame frame; reader.next(frame);) {
      bool too_long = false;
      if (const auto text = frame.compressed ? inflate(frame.bytes, kMax, too_long) : std::nullopt; text && text->size() > kMax)
        std::abort();
      frames.push_back(std::move(frame.bytes));
    }
  }
  fault = reader.fault().has_value();
  return frames;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  bool whole_fault = false, cut_fault = false;
  if (read(bytes, bytes.size() + 1, whole_fault) != read(bytes, data[0] % 17 + 1, cut_fault) || whole_fault != cut_fault) std::abort();
  parse_timeout(bytes);
  if (percent_encode(bytes).size() < bytes.size()) std::abort();
  return 0;
}
