#include "text/postprocess/post_processor.h"

namespace tenfold::tokenizing {
namespace {

// Of ["[SEP]", 102].
std::int32_t id_of(const Json& json, const char* key) {
  const Json pair = json.at(key);
  const bool is_right = pair.value.is_array() && pair.value.size() == 2 && pair.value[1].is_number_unsigned();
  if (!is_right || pair.value[1].get<std::uint64_t>() > INT32_MAX) pair.wrong("a token and its id were expected");
  return pair.value[1].get<std::int32_t>();
}

}  // namespace

Template read_bert_processing(const Json& json) {
  const Piece cls{Piece::token, 0, id_of(json, "cls")}, sep{Piece::token, 0, id_of(json, "sep")};
  const Piece first{Piece::first, 0, 0}, second{Piece::second, 1, 0}, last{Piece::token, 1, sep.id};
  return {{cls, first, sep}, {cls, first, sep, second, last}};
}

}  // namespace tenfold::tokenizing
