// tenfold/encoder.h: from text to vectors and scores. Forms of arguments are python/tenfold/embeddings'.
#include "tenfold/encoder.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <mutex>
#include <optional>

#include "native/arrays/arrays.h"
#include "native/bind/network.h"
#include "native/call/bound_context.h"
#include "native/errors.h"
#include "native/options/options.h"
#include "native/options/values.h"

namespace tenfold::python {
namespace {

// Texts as UTF-8, which their str objects keep as long as the caller's list keeps them.
std::string_view utf8_of(nb::handle text, const char* what, std::size_t at) {
  const std::string where = std::string(what) + " " + std::to_string(at);
  if (!PyUnicode_Check(text.ptr()))
    raise_type_error(where + " is a " + nb::cast<std::string>(nb::str(nb::type_name(text.type()))) + ", a str was expected");
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (!bytes) {
    PyErr_Clear();  // what it says names neither the text nor what to do
    raise_error(ErrorKind::invalid_argument,
                where + " has lone surrogates, which are no characters; text.encode('utf-8', 'replace').decode() replaces them");
  }
  return {bytes, static_cast<std::size_t>(size)};
}

std::vector<std::string_view> texts_of(const nb::list& list) {
  std::vector<std::string_view> texts;
  texts.reserve(list.size());
  for (const nb::handle one : list) texts.push_back(utf8_of(one, "text", texts.size()));
  return texts;
}

nb::object new_array(std::size_t rows, std::size_t width, float*& data) {
  auto* memory = new std::vector<float>(rows * width);
  const nb::capsule owner(memory, [](void* p) noexcept { delete static_cast<std::vector<float>*>(p); });
  data = memory->data();
  const std::int64_t shape[] = {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(width)};
  return array_over(data, true, DType::f32, shape, owner);
}

nb::list profiles_of(const BuildConfig& config) {
  nb::list profiles;
  for (const OptimizationProfile& profile : config.profiles) {
    nb::dict ranges;
    for (const auto& [input, range] : profile)
      ranges[input.c_str()] = nb::make_tuple(tuple_of(range.min), tuple_of(range.opt), tuple_of(range.max));
    profiles.append(ranges);
  }
  return profiles;
}

// A function from the network, the profiles as build() takes them and the plan's key to an engine.
std::function<Engine(Network, const BuildConfig&, const std::string&)> engine_maker(nb::handle function) {
  if (PyCallable_Check(function.ptr()) == 0) raise_type_error("make_engine takes a function of a network, profiles and a key");
  return [held = hold(function)](Network network, const BuildConfig& config, const std::string& key) {
    const nb::gil_scoped_acquire locked;
    const PyNetwork given{std::make_shared<Network>(std::move(network))};
    const nb::object made = nb::borrow(nb::handle(held.get()))(given, profiles_of(config), key);
    return engine_from(made, "make_engine");
  };
}

// An encoder with the callbacks of its builds, which run in the calls that need an engine first.
struct PyEncoder {
  std::shared_ptr<Callbacks> callbacks = std::make_shared<Callbacks>();
  std::optional<Encoder> encoder;

  PyEncoder(nb::handle folder, const nb::dict& keywords, nb::handle cache, int max_tokens, int dimensions, bool normalize,
            std::int64_t batch_tokens, const std::vector<std::string>& devices, const std::string& strategy, const std::string& precision,
            const std::vector<std::string>& calibration_texts, double min_cosine, std::optional<bool> packed, nb::handle weights) {
    EncoderOptions options;
    nb::dict build_options;   // all but what is the encoder's own
    for (auto [key, value] : keywords)
      if (nb::cast<std::string>(key) == "make_engine")
        options.make_engine = engine_maker(value);
      else
        build_options[key] = value;
    read_options(build_options, options.build, callbacks, "an encoder");
    options.devices = devices, options.calibration_texts = calibration_texts, options.min_cosine = min_cosine;
    options.packed = packed;
    options.cache->load = loader_of(weights);
    callbacks->run([&] {
      options.strategy = parse_device_strategy(strategy);
      if (!precision.empty()) options.precision = parse_encoder_precision(precision);
    });
    if (cache.is_none())
      options.cache->folder.clear();
    else if (nb::isinstance<nb::bool_>(cache))
      options.cache.reset();
    else
      options.cache->folder = text_of(cache);
    options.max_tokens = max_tokens, options.dimensions = dimensions, options.normalize = normalize, options.batch_tokens = batch_tokens;
    const std::string path = text_of(folder);
    encoder.emplace(callbacks->run([&] { return Encoder::load(path, std::move(options)); }));
  }

  EncodeCall call(const std::string& prompt, nb::handle progress) const {
    EncodeCall call{.prompt = prompt, .progress = {}};
    if (!progress.is_none())
      call.progress = [progress](std::size_t done, std::size_t total) {
        const nb::gil_scoped_acquire locked;
        return nb::cast<bool>(progress(done, total));
      };
    return call;
  }
  // `work` fills the floats at `to` without the lock; what a progress function raises comes out as it is.
  template <class Work>
  void run(Work work) {
    callbacks->run([&] { work(); });
  }

  // `failed`: None, or a dict, which gets the messages of texts that have no vector, by their places.
  nb::object encode(const nb::list& list, const std::string& prompt, nb::handle progress, nb::handle failed) {
    const std::vector<std::string_view> texts = texts_of(list);
    float* to = nullptr;
    const auto width = static_cast<std::size_t>(encoder->info().width);
    nb::object array = new_array(texts.size(), width, to);
    EncodeCall how = call(prompt, progress);
    std::mutex mutex;
    std::map<std::size_t, std::string> faults;
    if (!failed.is_none())
      how.failed = [&](std::size_t text, const Error& error) {
        const std::lock_guard lock(mutex);
        faults.emplace(text, error.what());
      };
    run([&] { encoder->encode_into(texts, {to, texts.size() * width}, how); });
    for (const auto& [text, message] : faults) nb::cast<nb::dict>(failed)[nb::int_(text)] = message;
    return array;
  }
  nb::list encode_tokens(const nb::list& list, const std::string& prompt, nb::handle progress) {
    const std::vector<std::string_view> texts = texts_of(list);
    std::vector<TokenVectors> all;
    const EncodeCall how = call(prompt, progress);
    run([&] { all = encoder->encode_tokens(texts, how); });
    nb::list arrays;
    for (const TokenVectors& one : all) {
      float* to = nullptr;
      nb::object array = new_array(static_cast<std::size_t>(one.size), static_cast<std::size_t>(encoder->info().token_width), to);
      std::copy(one.values.begin(), one.values.end(), to);
      arrays.append(array);
    }
    return arrays;
  }
  nb::object score(const nb::list& firsts, const nb::list& seconds, const std::string& function, nb::handle progress) {
    const std::vector<std::string_view> first = texts_of(firsts), second = texts_of(seconds);
    if (first.size() != second.size()) raise_type_error("pairs have two texts each");
    std::vector<std::pair<std::string_view, std::string_view>> pairs;
    for (std::size_t i = 0; i < first.size(); ++i) pairs.emplace_back(first[i], second[i]);
    const std::map<std::string, ScoreFunction> functions{{"by_folder", ScoreFunction::by_folder},
                                                         {"none", ScoreFunction::none},
                                                         {"sigmoid", ScoreFunction::sigmoid},
                                                         {"softmax", ScoreFunction::softmax}};
    if (!functions.count(function))
      raise_error(ErrorKind::invalid_argument, "the function of scores is by_folder, none, sigmoid or softmax");
    std::vector<float> scores;
    const EncodeCall how = call("", progress);
    run([&] { scores = encoder->score(pairs, functions.at(function), how); });
    float* to = nullptr;
    nb::object array = new_array(pairs.size(), static_cast<std::size_t>(encoder->info().labels), to);
    std::copy(scores.begin(), scores.end(), to);
    return array;
  }
  nb::list devices() const {
    nb::list all;
    for (const DeviceWork& one : encoder->devices()) {
      nb::dict dict;
      dict["device"] = one.device, dict["texts"] = one.texts, dict["tokens"] = one.tokens, dict["runs"] = one.runs;
      dict["busy_s"] = one.busy_s, dict["lost"] = one.lost, dict["precision"] = one.precision;
      dict["int8_cosine"] = one.int8_cosine < 0 ? nb::object(nb::none()) : nb::cast(one.int8_cosine);
      all.append(dict);
    }
    return all;
  }
  nb::list token_ids(const nb::list& list, const std::string& prompt) const {
    nb::list rows;
    for (const std::string_view text : texts_of(list)) rows.append(nb::cast(encoder->token_ids(text, prompt)));
    return rows;
  }
};

}  // namespace

void bind_encoder(nb::module_& m) {
  nb::class_<EncoderInfo>(m, "EncoderInfo", "What an encoder's folder says.")
      .def_ro("architecture", &EncoderInfo::architecture)
      .def_ro("width", &EncoderInfo::width)
      .def_ro("token_width", &EncoderInfo::token_width)
      .def_ro("max_tokens", &EncoderInfo::max_tokens)
      .def_ro("labels", &EncoderInfo::labels)
      .def_ro("label_names", &EncoderInfo::label_names)
      .def_ro("prompts", &EncoderInfo::prompts)
      .def_ro("default_prompt", &EncoderInfo::default_prompt)
      .def_ro("similarity", &EncoderInfo::similarity)
      .def_ro("truncate_dim", &EncoderInfo::truncate_dim)
      .def_ro("padding_id", &EncoderInfo::padding_id);
  nb::class_<PyEncoder>(m, "Encoder", "An encoder from a folder.")
      .def(nb::init<nb::handle, const nb::dict&, nb::handle, int, int, bool, std::int64_t, const std::vector<std::string>&,
                    const std::string&, const std::string&, const std::vector<std::string>&, double, std::optional<bool>, nb::handle>(),
           nb::arg("folder"), nb::arg("options"), nb::arg("cache").none() = nb::none(), nb::arg("max_tokens") = 0,
           nb::arg("dimensions") = 0, nb::arg("normalize") = false, nb::arg("batch_tokens") = 0,
           nb::arg("devices") = std::vector<std::string>(), nb::arg("strategy") = "auto", nb::arg("precision") = "",
           nb::arg("calibration_texts") = std::vector<std::string>(), nb::arg("min_cosine") = 0.99, nb::arg("packed") = nb::none(),
           nb::arg("weights") = "automatic")
      .def_prop_ro("info", [](const PyEncoder& e) { return e.encoder->info(); })
      .def_prop_ro(
          "counts",
          [](const PyEncoder& e) {
            const EncoderCounts c = e.encoder->counts();
            nb::dict dict;
            dict["texts"] = c.texts, dict["tokens"] = c.tokens, dict["truncated"] = c.truncated, dict["runs"] = c.runs;
            return dict;
          },
          "Texts, tokens, truncated texts and runs so far.")
      .def_prop_ro("devices", &PyEncoder::devices, "What each device has done, in which precision, and why it is lost, if it is.")
      .def("encode", &PyEncoder::encode, nb::arg("texts"), nb::arg("prompt") = "", nb::arg("progress").none() = nb::none(),
           nb::arg("failed").none() = nb::none(), "f32[texts, width].")
      .def("encode_tokens", &PyEncoder::encode_tokens, nb::arg("texts"), nb::arg("prompt") = "", nb::arg("progress").none() = nb::none(),
           "An array f32[tokens, token_width] for each text.")
      .def("score", &PyEncoder::score, nb::arg("firsts"), nb::arg("seconds"), nb::arg("function") = "by_folder",
           nb::arg("progress").none() = nb::none(), "f32[pairs, labels].")
      .def("token_ids", &PyEncoder::token_ids, nb::arg("texts"), nb::arg("prompt") = "",
           "A list of ids for each text, as the model gets them.")
      .def(
          "prepare", [](PyEncoder& e) { e.run([&] { e.encoder->prepare(); }); }, "Makes the engine, or takes it from the cache.");
}

}  // namespace tenfold::python
