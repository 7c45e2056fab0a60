// Manual pages in roff's man macros.
#include "flags/manual.h"

#include <algorithm>
#include <string_view>

#include "flags/flags.h"
#include "tenfold/version.h"

namespace tenfold::cli {
namespace {

// As it is to be printed: a hyphen of a flag is a minus, and no line begins with a request.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    out += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  }
  return out;
}

std::string head(const std::string& page, const std::string& summary) {
  std::string upper;
  for (const char c : page) upper += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return ".TH \"" + roff(upper) + "\" 1 \"\" \"Tenfold " + std::string(version()) + "\"\n.SH NAME\n" + roff(page) + " \\- " +
         roff(summary) + "\n";
}

// Lines that stand as they are.
std::string block(std::string_view text) { return ".nf\n" + roff(text) + "\n.fi\n"; }

std::string page_of(const Verb& verb) { return "tenfold-" + std::string(verb.name); }

std::string flags_of(const Flags& flags, const std::string& usage, const std::string& about) {
  std::string page = ".SH SYNOPSIS\n" + block(usage) + ".SH DESCRIPTION\n" + roff(about) + "\n";
  for (const Flags::Group& group : flags.groups()) {
    page += ".SH \"" + roff(group.title == "Flags" ? "OPTIONS" : group.title) + "\"\n";
    for (const Flag& flag : group.flags) page += ".TP\n.B " + roff(flag.spelled()) + "\n" + roff(flag.words()) + "\n";
  }
  return flags.footer().empty() ? page : page + ".SH NOTES\n" + roff(flags.footer()) + "\n";
}

}  // namespace

std::string manual_of(const Verb& verb) {
  std::string page = head(page_of(verb), verb.summary);
  verb.flags([&](const Flags& flags) { page += flags_of(flags, flags.usage(), flags.about()); });
  return page + ".SH \"SEE ALSO\"\n.BR tenfold (1)\n";
}

std::string manual_of_server() {
  const auto& all = verbs();
  const auto serve = std::find_if(all.begin(), all.end(), [](const Verb& verb) { return std::string_view(verb.name) == "serve"; });
  std::string page = head("tenfold-server", serve->summary);
  serve->flags([&](const Flags& flags) {
    page += flags_of(flags, "tenfold-server model.onnx [--flags]\ntenfold-server --model-repository=DIR [--flags]",
                     "Answers requests of the KServe v2 protocol over HTTP and gRPC, as Triton does; those of several clients run as one "
                     "batch.\n\"tenfold serve\" starts this program.");
  });
  return page +
         ".SH ENVIRONMENT\n" +
         roff("TENFOLD_HTTP_PORT is --http-port, and so for every flag; the command line comes before the environment, and this before\n"
              "the file of --config.\n") +
         ".SH FILES\n.TP\n.I /etc/tenfold/server.conf\nflags of the service tenfold\\-server.service\n"
         ".TP\n.I /var/cache/tenfold\nits plans and times of kernels\n"
         ".SH SIGNALS\n" +
         block("SIGTERM  answers what it has accepted, and ends; a second one ends it at once\n"
               "SIGHUP   reads keys and certificates again\n"
               "SIGUSR2  another process loads the models and takes the place of the one that serves\n") +
         ".SH \"EXIT STATUS\"\n" + block("0 ended by a signal, 1 nothing can be served, 2 usage\n") +
         ".SH \"SEE ALSO\"\n.BR tenfold (1)\n";
}

std::string manual_of_program(const std::string& environment, const std::string& exit_codes) {
  std::string page = head("tenfold", "makes trained neural networks run fast");
  page += ".SH SYNOPSIS\n.B tenfold\n.I VERB\n[\\-\\-flags]\n.SH DESCRIPTION\n"
          "An ONNX model in, a plan out, answers at the speed of the machine. Called under the name\n.B trtexec\nit behaves as\n"
          ".BR \"tenfold exec\" .\n.SH VERBS\n";
  for (const Verb& verb : verbs()) page += ".TP\n.BR " + roff(page_of(verb)) + " (1)\n" + roff(verb.summary) + "\n";
  return page + ".SH ENVIRONMENT\n" + block(environment) + ".SH \"EXIT STATUS\"\n" + block(exit_codes);
}

}  // namespace tenfold::cli
