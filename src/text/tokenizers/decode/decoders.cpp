#include "text/tokenizers/decode/decoder.h"

namespace tenfold::tokenizing {
namespace {

class Decoders : public Decoder {
 public:
  explicit Decoders(const Json& json) {
    for (const Json& one : json.list("decoders")) all_.push_back(read_decoder(one));
  }
  void run(std::vector<std::string>& tokens, const Room& room) const override {
    for (const auto& one : all_) one->run(tokens, room);
  }

 private:
  std::vector<std::unique_ptr<Decoder>> all_;
};

}  // namespace

std::unique_ptr<Decoder> read_decoders(const Json& json) { return std::make_unique<Decoders>(json); }

}  // namespace tenfold::tokenizing
