// Completions: verbs, flags of the verb, words that a flag takes, and else files.
#include "flags/flags.h"
#include "flags/manual.h"
#include "flags/specs.h"

namespace tenfold::cli {
namespace {

// Of a value like "auto|none|json"; none: a number, a file, or a text of its own.
std::vector<std::string> choices(const Flag& flag) {
  std::string value = flag.value;
  if (!value.empty() && value.front() == '[') value = value.substr(1, value.size() - 2);
  const bool is_list = value.find('|') != std::string::npos && value.find_first_of("[]:,.") == std::string::npos;
  return is_list ? split(value, '|') : std::vector<std::string>{};
}

bool takes_value(const Flag& flag) { return !flag.value.empty(); }
bool needs_value(const Flag& flag) { return takes_value(flag) && flag.value.front() != '['; }
std::string dashed(const Flag& flag) { return (flag.name.size() == 1 ? "-" : "--") + flag.name; }

template <class Use>
void each_flag(const Verb& verb, Use&& use) {
  verb.flags([&](const Flags& flags) {
    for (const Flags::Group& group : flags.groups())
      for (const Flag& flag : group.flags) use(flag);
  });
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// In single quotes of a shell.
std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string verb_names() {
  std::vector<std::string> names{"help", "version"};
  for (const Verb& verb : verbs()) names.emplace_back(verb.name);
  return joined(names);
}

std::string bash() {
  std::string flags, values;
  for (const Verb& verb : verbs()) {
    std::vector<std::string> all;
    each_flag(verb, [&](const Flag& flag) {
      all.push_back(dashed(flag) + (needs_value(flag) && flag.name.size() > 1 ? "=" : ""));
      if (const auto words = choices(flag); !words.empty())
        values += "    " + std::string(verb.name) + "/" + dashed(flag) + ") words='" + joined(words) + "' ;;\n";
    });
    flags += "    " + std::string(verb.name) + ") flags='" + joined(all) + "' ;;\n";
  }
  return "# bash completion of tenfold, made by `tenfold completion bash` of its tables of flags.\n"
         "_tenfold() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]} flag='' flags='' words=''\n"
         "  [[ ${COMP_WORDS[0]##*/} == trtexec ]] && verb=exec\n"
         "  COMPREPLY=()\n"
         "  if [[ ${COMP_WORDS[0]##*/} != trtexec && $COMP_CWORD -eq 1 ]]; then\n"
         "    COMPREPLY=($(compgen -W '" + verb_names() + " --help --version' -- \"$current\"))\n"
         "    return\n"
         "  fi\n"
         "  if [[ $verb == help ]]; then\n"
         "    COMPREPLY=($(compgen -W '" + verb_names() + "' -- \"$current\"))\n"
         "    return\n"
         "  fi\n"
         "  case $verb in\n" + flags + "  esac\n"
         "  # --flag=value is three words for bash: the flag, the sign and the value.\n"
         "  if [[ $before == '=' ]]; then flag=${COMP_WORDS[COMP_CWORD-2]}\n"
         "  elif [[ $current == '=' ]]; then flag=$before current=''\n"
         "  elif [[ $before == -* ]]; then flag=$before\n"
         "  fi\n"
         "  case $verb/$flag in\n" + values + "  esac\n"
         "  if [[ -n $words ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "  elif [[ $current == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$flags\" -- \"$current\"))\n"
         "    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null\n"
         "  else\n"
         "    compopt -o filenames 2>/dev/null\n"
         "    COMPREPLY=($(compgen -f -- \"$current\"))\n"
         "  fi\n"
         "}\n"
         "complete -F _tenfold tenfold trtexec\n";
}

// [ and ] and : mean something in a specification.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) out += (c == '[' || c == ']' || c == ':' || c == '\\' ? "\\" : "") + std::string(1, c);
  return out;
}

std::string zsh() {
  std::string names, cases;
  for (const Verb& verb : verbs()) {
    names += "    " + in_quotes(std::string(verb.name) + ":" + verb.summary) + "\n";
    cases += "    " + std::string(verb.name) + ") flags=(\n";
    each_flag(verb, [&](const Flag& flag) {
      std::string spec = "*" + dashed(flag) + (needs_value(flag) ? flag.name.size() > 1 ? "=" : "+" : takes_value(flag) ? "=-" : "");
      spec += "[" + zsh_text(flag.words()) + "]";
      if (takes_value(flag)) {
        const auto words = choices(flag);
        spec += std::string(needs_value(flag) ? "" : ":") + ":" + zsh_text(flag.value) + ":" +
                (words.empty() ? "_files" : "(" + joined(words) + ")");
      }
      cases += "      " + in_quotes(spec) + "\n";
    });
    cases += "    ) ;;\n";
  }
  return "#compdef tenfold trtexec\n# zsh completion of tenfold, made by `tenfold completion zsh` of its tables of flags.\n"
         "_tenfold() {\n"
         "  local verb=$words[2]\n"
         "  local -a verbs flags\n"
         "  verbs=(\n" + names + "    'help:what a verb does'\n    'version:the version of the program'\n  )\n"
         "  if [[ ${service:-tenfold} == trtexec ]]; then verb=exec\n"
         "  elif (( CURRENT == 2 )); then _describe verb verbs; return\n"
         "  else shift words; (( CURRENT-- ))\n"
         "  fi\n"
         "  case $verb in\n"
         "    help) _describe verb verbs; return ;;\n" + cases + "  esac\n"
         "  _arguments -s $flags '*:file:_files'\n"
         "}\n"
         "_tenfold \"$@\"\n";
}

std::string fish() {
  std::string out = "# fish completion of tenfold, made by `tenfold completion fish` of its tables of flags.\n";
  for (const Verb& verb : verbs()) {
    const std::string name = verb.name;
    out += "complete -c tenfold -n __fish_use_subcommand -f -a " + name + " -d " + in_quotes(verb.summary) + "\n";
    each_flag(verb, [&](const Flag& flag) {
      const auto words = choices(flag);
      std::string line = (flag.name.size() == 1 ? " -s " : " -l ") + flag.name + " -d " + in_quotes(flag.words()) +
                         (needs_value(flag) ? " -r" : "") + (words.empty() ? "" : " -f -a " + in_quotes(joined(words))) + "\n";
      out += "complete -c tenfold -n '__fish_seen_subcommand_from " + name + "'" + line;
      if (name == "exec") out += "complete -c trtexec" + line;
    });
  }
  return out + "complete -c tenfold -n __fish_use_subcommand -f -a 'help version'\n"
               "complete -c tenfold -n '__fish_seen_subcommand_from help' -f -a " + in_quotes(verb_names()) + "\n";
}

}  // namespace

std::string completion_for(const std::string& shell) {
  if (shell == "bash") return bash();
  if (shell == "zsh") return zsh();
  if (shell == "fish") return fish();
  throw UsageError("tenfold completion takes bash, zsh or fish, not '" + shell + "'");
}

}  // namespace tenfold::cli
