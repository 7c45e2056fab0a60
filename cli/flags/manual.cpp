// Manual pages in roff's man macros.
#include "flags/manual.h"

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

}  // namespace

std::string manual_of(const Verb& verb) {
  std::string page = head(page_of(verb), verb.summary);
  verb.flags([&](const Flags& flags) {
    page += ".SH SYNOPSIS\n" + block(flags.usage()) + ".SH DESCRIPTION\n" + roff(flags.about()) + "\n";
    for (const Flags::Group& group : flags.groups()) {
      page += ".SH \"" + roff(group.title == "Flags" ? "OPTIONS" : group.title) + "\"\n";
      for (const Flag& flag : group.flags) page += ".TP\n.B " + roff(flag.spelled()) + "\n" + roff(flag.words()) + "\n";
    }
    if (!flags.footer().empty()) page += ".SH NOTES\n" + roff(flags.footer()) + "\n";
  });
  return page + ".SH \"SEE ALSO\"\n.BR tenfold (1)\n";
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
