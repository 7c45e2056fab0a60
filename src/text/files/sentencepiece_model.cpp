#include "text/files/sentencepiece_model.h"

#include <bit>
#include <cmath>

#include "text/chars.h"
#include "text/fail.h"

namespace tenfold::tokenizing {
namespace {

// The fields of a message of protobuf's wire format, one after the other.
class Fields {
 public:
  Fields(std::string_view bytes, const std::string& what) : bytes_(bytes), what_(what) {}

  std::uint64_t number = 0, value = 0;   // of a field; its value where it is no string
  std::string_view text;

  bool next() {
    if (bytes_.empty()) return false;
    const std::uint64_t tag = varint();
    number = tag >> 3, value = 0, text = {};
    switch (tag & 7) {
      case 0: value = varint(); break;
      case 1: value = little_endian(take(8)); break;
      case 2: text = take(varint()); break;
      case 5: value = little_endian(take(4)); break;
      default: wrong();
    }
    return true;
  }
  std::string utf8() const {
    try {
      scalars(text);
    } catch (const Error&) {
      fail(ErrorKind::invalid_model, what_ + ": a string is no UTF-8");
    }
    return std::string(text);
  }

 private:
  [[noreturn]] void wrong() const {
    fail(ErrorKind::invalid_model, what_ + " is no model of SentencePiece: it is damaged or something else");
  }
  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size()) wrong();
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  static std::uint64_t little_endian(std::string_view bytes) {
    std::uint64_t result = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) result = result << 8 | static_cast<unsigned char>(bytes[i]);
    return result;
  }
  std::uint64_t varint() {
    std::uint64_t result = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      result |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return result;
    }
    wrong();
  }

  std::string_view bytes_;
  const std::string& what_;
};

constexpr std::size_t kLongestPiece = 1024;   // bytes; merges are looked for at each of them

SentencepieceModel::Piece read_piece(Fields fields, const std::string& what, std::size_t number) {
  SentencepieceModel::Piece piece;
  while (fields.next()) {
    if (fields.number == 1) piece.text = fields.utf8();
    if (fields.number == 2) piece.score = std::bit_cast<float>(static_cast<std::uint32_t>(fields.value));
    if (fields.number == 3) piece.type = fields.value;
  }
  const std::string where = what + ": piece " + std::to_string(number);
  if (piece.text.size() > kLongestPiece)
    fail(ErrorKind::unsupported, where + " has " + std::to_string(piece.text.size()) + " bytes; " + std::to_string(kLongestPiece) +
                                     " are the most");
  if (!std::isfinite(piece.score)) fail(ErrorKind::invalid_model, where + " ('" + piece.text + "') has a score that is no finite number");
  return piece;
}

}  // namespace

SentencepieceModel read_sentencepiece(std::string_view bytes, const std::string& what) {
  SentencepieceModel model;
  std::uint64_t kind = 1;   // Unigram
  for (Fields fields(bytes, what); fields.next();) {
    if (fields.number == 1) model.pieces.push_back(read_piece(Fields(fields.text, what), what, model.pieces.size()));
    if (fields.number == 2)
      for (Fields trainer(fields.text, what); trainer.next();) {
        if (trainer.number == 3) kind = trainer.value;
        if (trainer.number == 35) model.byte_fallback = trainer.value != 0;
        if (trainer.number == 40) model.unknown_id = trainer.value;
        if (trainer.number == 45) model.unknown_piece = trainer.utf8();
      }
    if (fields.number == 3)
      for (Fields normalizer(fields.text, what); normalizer.next();) {
        if (normalizer.number == 2) model.charsmap = normalizer.text;
        if (normalizer.number == 3) model.adds_dummy_prefix = normalizer.value != 0;
        if (normalizer.number == 4) model.removes_extra_spaces = normalizer.value != 0;
        if (normalizer.number == 5) model.escapes_spaces = normalizer.value != 0;
      }
  }
  if (model.pieces.empty()) fail(ErrorKind::invalid_model, what + " is no model of SentencePiece: it has no pieces");
  if (kind != 1 && kind != 2)
    fail(ErrorKind::unsupported, what + ": models of type " + std::to_string(kind) + " are not supported; Unigram (1) and BPE (2) are");
  model.is_bpe = kind == 2;
  return model;
}

}  // namespace tenfold::tokenizing
