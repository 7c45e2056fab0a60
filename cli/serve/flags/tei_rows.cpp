// Flags and variables of Text Embeddings Inference (TEI): with --model-id or MODEL_ID, the server starts as it does.
#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "serve/flags/rows.h"

namespace tenfold::cli {
namespace {

// What TEI's flags are called here, where another flag does the same.
void add_renamed(Flags& flags, ServeOptions& options) {
  add_number(flags, "port", options.http.port, 0, kMaxPort, "+of HTTP, as --http-port (3000)");
  flags.add({"hostname", "ADDRESS", "+as --http-address; what is no address: all of them (0.0.0.0)", [&options](const std::string& text) {
               options.http.address = text.find_first_not_of("0123456789abcdefABCDEF.:") == std::string::npos ? text : "0.0.0.0";
             }});
  flags.add_text("served-model-name", options.model.name, "NAME", "+as --name");
  add_choice(flags, "dtype", options.text.dtype, {"float32", "float16", "bfloat16"}, "+as --precision (float32)");
  add_number(flags, "max-concurrent-requests", options.queue.size, 1, 1 << 30, "+texts that wait, as --max-queue-size (512)");
  flags.add({"max-batch-requests", "N", "+texts of a batch, as --max-batch",
             [&options](const std::string& text) { options.model.max_batch = parse_int("max-batch-requests", text, 1, 1 << 20); }});
  flags.add({"payload-limit", "BYTES", "+as --http-max-input-size (2000000)",
             [&options](const std::string& text) { options.http.body_bytes = parse_int("payload-limit", text, 1); }});
  flags.add({"api-key", "KEY",
             "+a key beside those of --api-key-file; all users of this machine see command lines, so give it by API_KEY or in a file",
             [&options](const std::string& text) {
               if (text.empty()) throw UsageError("--api-key is empty: leave it out where no key is needed");
               options.security.api_key = text;
             }});
  add_number(flags, "prometheus-port", options.http.metrics_port, 0, kMaxPort, "+as --metrics-port (9000)");
}

void refuse_others(Flags& flags) {
  flags.refuse("revision", "this server takes folders, and downloads none");
  for (const char* name : {"hf-token", "hf-api-token", "huggingface-hub-cache"})
    flags.refuse(name, "this server takes folders, and downloads none");
  for (const char* name : {"pooling", "dense-path"}) flags.refuse(name, "the folder says it: modules.json and the folders that it names");
  flags.refuse("uds-path", "the model runs in the server's own process");
  flags.refuse("cors-allow-origin", "put a proxy in front of it that adds these headers");
}

constexpr const char* kVariables[] = {"model-id", "port", "hostname", "served-model-name", "dtype", "max-concurrent-requests",
                                      "max-batch-tokens", "max-batch-requests", "max-client-batch-size", "auto-truncate", "payload-limit",
                                      "default-prompt", "default-prompt-name", "tokenization-workers", "prometheus-port", "api-key"};

std::string variable_of(std::string flag) {
  for (char& c : flag) c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return flag;
}

// Whether the next word of a command line is its value: one of TEI's flags without '='.
bool takes_value(const std::string& word) {
  if (word == "-p") return true;
  if (word == "--auto-truncate") return false;   // it may be a switch
  return std::any_of(std::begin(kVariables), std::end(kVariables), [&](const char* flag) { return word == "--" + std::string(flag); });
}

}  // namespace

void add_tei_rows(Flags& flags, ServeOptions& options) {
  flags.group("As Text Embeddings Inference has them", true);
  flags.add_text("model-id", options.text.model_id, "DIR", "+an encoder's folder; the server starts as TEI does, with its defaults");
  add_renamed(flags, options);
  refuse_others(flags);
}

std::vector<std::string> with_tei_variables(const std::vector<std::string>& arguments) {
  bool tei = false, names_model = false;
  std::vector<std::string> given;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& one = arguments[i];
    tei = tei || one == "--model-id" || one.starts_with("--model-id=");
    names_model = names_model || !(one.starts_with("-") || (i > 0 && takes_value(arguments[i - 1])));
    const bool next_is_bool = i + 1 < arguments.size() && (arguments[i + 1] == "true" || arguments[i + 1] == "false");
    if (one == "--auto-truncate" && !next_is_bool) given.push_back("--auto-truncate=true");   // TEI has it as a switch, too
    else given.push_back(one == "-p" ? "--port" : one);
  }
  const char* model = std::getenv("MODEL_ID");
  if (!tei && (!model || names_model)) return given;
  std::vector<std::string> all = {"--http-address=0.0.0.0", "--http-port=3000", "--metrics-port=9000", "--http-max-input-size=2000000",
                                  "--max-client-batch-size=32", "--max-queue-size=512", "--allow-grpc=false"};
  for (const char* flag : kVariables)
    if (const char* value = std::getenv(variable_of(flag).c_str()); value && *value) all.push_back("--" + std::string(flag) + "=" + value);
  all.insert(all.end(), given.begin(), given.end());
  return all;
}

}  // namespace tenfold::cli
