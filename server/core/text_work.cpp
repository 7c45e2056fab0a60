#include "core/text_work.h"

#include "tenfold/error.h"

namespace tenfold::server {

TextWork text_work_of(const ServedEncoder& served, const InferRequest& request) {
  const Encoder& encoder = served.encoder();
  TextWork work;
  work.output = encoder.info().labels > 0 ? TextOutput::scores : TextOutput::vectors;
  if (work.output == TextOutput::vectors) work.prompt = served.prompt();
  const std::vector<std::string>& texts = request.inputs.at(0).strings;
  const std::vector<std::string>* pair = request.inputs.size() > 1 ? &request.inputs[1].strings : nullptr;
  if (pair && pair->size() != texts.size())
    throw RequestError(Code::invalid_argument, "input 'text' has " + std::to_string(texts.size()) + " texts, but 'text_pair' has " +
                                                   std::to_string(pair->size()));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    try {
      work.texts.push_back(pair ? encoder.tokenize_pair(texts[i], (*pair)[i]) : encoder.tokenize(texts[i], work.prompt));
    } catch (const Error& error) {
      throw RequestError(Code::invalid_argument, "text " + std::to_string(i) + ": " + error.what());
    }
  }
  return work;
}

}  // namespace tenfold::server
