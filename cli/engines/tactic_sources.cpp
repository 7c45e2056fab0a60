// --tacticSources: our names of kernels' sources, and TensorRT's.
#include <map>
#include <optional>
#include <utility>

#include "engines/exec_options.h"
#include "flags/specs.h"

namespace tenfold::cli {
namespace {

constexpr std::uint32_t bit(TacticSource source) { return static_cast<std::uint32_t>(source); }

std::optional<std::uint32_t> own_source(const std::string& word) {
  static const std::map<std::string, TacticSource> known = {
      {"reference", TacticSource::reference}, {"native", TacticSource::native}, {"onednn", TacticSource::onednn},
      {"cublas_lt", TacticSource::cublas_lt}, {"cudnn", TacticSource::cudnn}};
  const auto found = known.find(lower(word));
  return found == known.end() ? std::nullopt : std::optional(bit(found->second));
}

// In capitals. 0: a part of TensorRT's own kernels, which have no switch here.
std::optional<std::uint32_t> trtexec_source(const std::string& word) {
  static const std::map<std::string, std::uint32_t> known = {{"CUBLAS", bit(TacticSource::cublas_lt)},
                                                             {"CUBLAS_LT", bit(TacticSource::cublas_lt)},
                                                             {"CUDNN", bit(TacticSource::cudnn)},
                                                             {"EDGE_MASK_CONVOLUTIONS", 0},
                                                             {"JIT_CONVOLUTIONS", 0}};
  const auto found = known.find(word);
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::uint32_t parse_sources(std::uint32_t mask, const std::string& text, std::vector<std::string>& notes) {
  bool fresh = true;
  for (std::string word : split(text, ',')) {
    const char sign = word.empty() ? '\0' : word.front();
    if (sign == '+' || sign == '-') word.erase(0, 1);
    const std::optional<std::uint32_t> theirs = trtexec_source(word), source = theirs ? theirs : own_source(word);
    if (!source)
      throw UsageError("--tacticSources: unknown source '" + word +
                       "', expected reference, native, onednn, cublas_lt or cudnn, each with + or - or alone; or TensorRT's CUBLAS, "
                       "CUBLAS_LT, CUDNN, EDGE_MASK_CONVOLUTIONS, JIT_CONVOLUTIONS");
    if (theirs && word != "CUBLAS_LT" && word != "CUDNN")
      notes.push_back("--tacticSources: " + word +
                      (*theirs ? " is taken as cublas_lt" : " has no effect: it stands for kernels of TensorRT's own"));
    // Plain names: exactly these. TensorRT's leave its own kernels on whatever is named.
    if (sign != '+' && sign != '-' && std::exchange(fresh, false))
      mask = theirs ? bit(TacticSource::reference) | bit(TacticSource::native) : 0;
    mask = sign == '-' ? mask & ~*source : mask | *source;
  }
  return mask;
}

}  // namespace tenfold::cli
