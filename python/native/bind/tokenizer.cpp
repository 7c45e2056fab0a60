// tenfold/text.h: ids of texts. Arrays come as bytes of i32; python/tenfold/_tokenizer.py gives them their shapes.
#include "tenfold/text.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "native/long_call.h"
#include "native/options/values.h"
#include "tenfold/internal/interrupts.h"

namespace tenfold::python {
namespace {

std::string_view view(const nb::bytes& text) { return {text.c_str(), text.size()}; }

nb::bytearray array(const std::vector<std::int32_t>& values) { return nb::bytearray(values.data(), values.size() * sizeof(std::int32_t)); }

// Ids, types, mask, special, begins, ends.
nb::tuple arrays(const Encoding& e) {
  return nb::make_tuple(array(e.ids), array(e.types), array(e.mask), array(e.special), array(e.begins), array(e.ends));
}

nb::tuple encode(const Tokenizer& tokenizer, const nb::bytes& text, const nb::object& second, bool special_tokens) {
  if (second.is_none()) return arrays(tokenizer.encode(view(text), special_tokens));
  return arrays(tokenizer.encode_pair(view(text), view(nb::cast<nb::bytes>(second)), special_tokens));
}

// Ids, mask and types of all texts, and how many a text has: the longest one's number. Others are filled with zeros where nothing pads.
nb::tuple encode_batch(const Tokenizer& tokenizer, const nb::list& texts, bool special_tokens, int threads) {
  std::vector<std::string_view> views;
  for (const nb::handle text : texts) views.push_back(view(nb::borrow<nb::bytes>(text)));
  std::vector<std::int32_t> ids, mask, types;
  std::size_t width = 0;
  LongCall().run([&] {
    const std::vector<Encoding> all = tokenizer.encode_batch(views, special_tokens, threads);
    for (const Encoding& e : all) width = std::max(width, e.size());
    for (std::vector<std::int32_t>* one : {&ids, &mask, &types}) one->resize(all.size() * width);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i % 256 == 0) throw_if_cancelled();
      const auto at = static_cast<std::ptrdiff_t>(i * width);
      std::copy(all[i].ids.begin(), all[i].ids.end(), ids.begin() + at);
      std::copy(all[i].mask.begin(), all[i].mask.end(), mask.begin() + at);
      std::copy(all[i].types.begin(), all[i].types.end(), types.begin() + at);
    }
  });
  return nb::make_tuple(array(ids), array(mask), array(types), width);
}

std::string decode(const Tokenizer& tokenizer, const nb::bytes& ids, bool skip_special_tokens) {
  const auto* first = static_cast<const std::int32_t*>(ids.data());
  return tokenizer.decode({first, ids.size() / sizeof *first}, skip_special_tokens);
}

void set_padding(Tokenizer& tokenizer, const std::string& padding, int length) {
  tokenizer.set_padding(padding == "longest" ? Tokenizer::Padding::longest
                        : padding == "fixed" ? Tokenizer::Padding::fixed
                                             : Tokenizer::Padding::none, length);
}

}  // namespace

void bind_tokenizer(nb::module_& m) {
  nb::class_<Tokenizer>(m, "Tokenizer", "What tenfold.Tokenizer stands on: texts are UTF-8, arrays bytes of i32.")
      .def(
          "__init__", [](Tokenizer* self, nb::handle path) { new (self) Tokenizer(Tokenizer::load(text_of(path))); }, nb::arg("path"),
          nb::sig("def __init__(self, path: str | os.PathLike[str]) -> None"))
      .def_static(
          "parse", [](const nb::bytes& json) { return Tokenizer::parse(view(json)); }, nb::arg("json"))
      .def("encode", &encode, nb::arg("text"), nb::arg("second").none(), nb::arg("special_tokens"))
      .def("encode_batch", &encode_batch, nb::arg("texts"), nb::arg("special_tokens"), nb::arg("threads"))
      .def("decode", &decode, nb::arg("ids"), nb::arg("skip_special_tokens"))
      .def("set_truncation", &Tokenizer::set_truncation, nb::arg("max_length"))
      .def("set_padding", &set_padding, nb::arg("padding"), nb::arg("length"))
      .def("vocabulary_size", &Tokenizer::vocabulary_size)
      .def(
          "id", [](const Tokenizer& self, const std::string& token) { return self.id(token); }, nb::arg("token"))
      .def("token", &Tokenizer::token, nb::arg("id"));
}

}  // namespace tenfold::python
