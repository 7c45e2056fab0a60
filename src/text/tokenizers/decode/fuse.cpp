#include "text/tokenizers/decode/decoder.h"

namespace tenfold::tokenizing {
namespace {

class Fuse : public Decoder {
 public:
  void run(std::vector<std::string>& tokens, const Room&) const override {
    std::string all;
    for (const std::string& token : tokens) all += token;
    tokens.assign(1, all);
  }
};

}  // namespace

std::unique_ptr<Decoder> read_fuse(const Json&) { return std::make_unique<Fuse>(); }

}  // namespace tenfold::tokenizing
