#include "text/tokenizers/files/sentencepiece_model.h"

#include <bit>
#include <cmath>

#include "tenfold/internal/protobuf.h"
#include "text/chars.h"
#include "text/fail.h"

namespace tenfold::tokenizing {
namespace {

std::string utf8(const ProtobufFields& field) {
  try {
    scalars(field.text());
  } catch (const Error&) {
    fail(ErrorKind::invalid_model, "a string is no UTF-8");
  }
  return std::string(field.text());
}

constexpr std::size_t kLongestPiece = 1024;   // bytes; merges are looked for at each of them

SentencepieceModel::Piece read_piece(ProtobufFields fields, std::size_t number) {
  SentencepieceModel::Piece piece;
  while (fields.next()) {
    if (fields.number() == 1) piece.text = utf8(fields);
    if (fields.number() == 2) piece.score = std::bit_cast<float>(fields.fixed32());
    if (fields.number() == 3) piece.type = fields.varint();
  }
  const std::string where = "piece " + std::to_string(number);
  if (piece.text.size() > kLongestPiece)
    fail(ErrorKind::unsupported, where + " has " + std::to_string(piece.text.size()) + " bytes; " + std::to_string(kLongestPiece) +
                                     " are the most");
  if (!std::isfinite(piece.score)) fail(ErrorKind::invalid_model, where + " ('" + piece.text + "') has a score that is no finite number");
  return piece;
}

void read_trainer(ProtobufFields fields, SentencepieceModel& model) {
  std::uint64_t kind = 1;   // Unigram
  while (fields.next()) {
    if (fields.number() == 3) kind = fields.varint();
    if (fields.number() == 35) model.byte_fallback = fields.varint() != 0;
    if (fields.number() == 40) model.unknown_id = fields.varint();
    if (fields.number() == 45) model.unknown_piece = utf8(fields);
  }
  if (kind != 1 && kind != 2)
    fail(ErrorKind::unsupported, "models of type " + std::to_string(kind) + " are not supported; Unigram (1) and BPE (2) are");
  model.is_bpe = kind == 2;
}

void read_normalizer(ProtobufFields fields, SentencepieceModel& model) {
  while (fields.next()) {
    if (fields.number() == 2) model.charsmap = fields.text();
    if (fields.number() == 3) model.adds_dummy_prefix = fields.varint() != 0;
    if (fields.number() == 4) model.removes_extra_spaces = fields.varint() != 0;
    if (fields.number() == 5) model.escapes_spaces = fields.varint() != 0;
  }
}

}  // namespace

SentencepieceModel read_sentencepiece(std::string_view bytes, const std::string& what) {
  SentencepieceModel model;
  try {
    for (ProtobufFields fields(bytes); fields.next();) {
      if (fields.number() == 1) model.pieces.push_back(read_piece(ProtobufFields(fields.bytes()), model.pieces.size()));
      if (fields.number() == 2) read_trainer(ProtobufFields(fields.bytes()), model);
      if (fields.number() == 3) read_normalizer(ProtobufFields(fields.bytes()), model);
    }
    if (model.pieces.empty()) fail(ErrorKind::invalid_model, "it has no pieces");
  } catch (Error& e) {
    const char* const is_none = " is no model of SentencePiece, or it is damaged";
    throw e.within(e.kind() == ErrorKind::invalid_model ? what + is_none : what);
  }
  return model;
}

}  // namespace tenfold::tokenizing
