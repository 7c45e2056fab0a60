// Statements: {% for %} and so on.
#include <algorithm>

#include "text/chat/parser.h"

namespace tenfold::chat {

bool Parser::take_sign(std::string_view sign) { return now().is(sign) && (take(), true); }
bool Parser::take_name(std::string_view name) { return now().named(name) && (take(), true); }

void Parser::need(std::string_view sign) {
  if (!take_sign(sign)) wrong(now().line, "'" + std::string(sign) + "' was expected, not '" + now().text + "'");
}

std::string Parser::need_name() {
  if (now().kind != Token::name) wrong(now().line, "a name was expected, not '" + now().text + "'");
  return take().text;
}

void Parser::block_end() {
  if (now().kind != Token::block_end) wrong(now().line, "'%}' was expected, not '" + now().text + "'");
  take();
}

Body Parser::body(std::initializer_list<std::string_view> ends) {
  const Deeper deeper(*this);
  Body all;
  for (;;) {
    const bool tag = now().kind == Token::block_begin;
    const Lexed& next = tokens_[std::min(at_ + 1, tokens_.size() - 1)];
    if (tag && std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return next.named(end); })) return all;
    if (now().kind == Token::end) {
      if (ends.size() == 0) return all;
      wrong(now().line, "the template ends without '{% " + std::string(*(ends.end() - 1)) + " %}'");
    }
    statement(all);
  }
}

void Parser::end_of(Statement& s, std::string_view end) {
  block_end();
  s.bodies.push_back(body({end}));
  take(), take(), block_end();
}

void Parser::statement(Body& to) {
  auto made = std::make_unique<Statement>();
  Statement& s = *made;
  s.line = now().line;
  const Lexed first = take();
  using Kind = Statement::Kind;
  if (first.kind == Token::data) {
    s.text = first.text;
  } else if (first.kind == Token::variable_begin) {
    s.kind = Kind::print, s.values.push_back(tuple());
    if (now().kind != Token::variable_end) wrong(now().line, "'}}' was expected, not '" + now().text + "'");
    take();
  } else {
    const std::string name = need_name();
    if (name == "if")
      s.kind = Kind::branch, branch(s);
    else if (name == "for")
      s.kind = Kind::loop, loop(s);
    else if (name == "set")
      s.kind = Kind::set, set(s);
    else if (name == "macro")
      s.kind = Kind::macro, s.text = need_name(), parameters(s), end_of(s, "endmacro");
    else if (name == "filter")
      s.kind = Kind::filter, filters(s), end_of(s, "endfilter");
    else if (name == "with")
      s.kind = Kind::scope, scope(s), end_of(s, "endwith");
    else if (name == "generation")
      s.kind = Kind::scope, end_of(s, "endgeneration");  // which marks what an assistant says
    else if (name == "break" || name == "continue")
      s.kind = name == "break" ? Kind::leave : Kind::go_on, block_end();
    else if (name == "call") {
      s.kind = Kind::call;
      if (now().is("(")) parameters(s);
      Expr call = condition();
      if (call->kind != Expression::Kind::call) wrong(s.line, "{% call %} takes a call of a macro");
      s.values.insert(s.values.begin(), std::move(call));
      end_of(s, "endcall");
    } else if (name.starts_with("end") || name == "else" || name == "elif") {
      wrong(s.line, "{% " + name + " %} ends nothing");
    } else {
      missing(s.line, "the statement {% " + name +
                          " %} is not supported; templates of conversations have for, if, set, macro, call, "
                          "filter, with, raw, break, continue and generation");
    }
  }
  to.push_back(std::move(made));
}

void Parser::branch(Statement& s) {
  for (;;) {
    s.values.push_back(tuple());
    block_end();
    s.bodies.push_back(body({"elif", "else", "endif"}));
    take();
    const std::string next = take().text;
    if (next == "elif") continue;
    block_end();
    if (next == "endif") return;
    s.bodies.push_back(body({"endif"}));
    take(), take(), block_end();
    return;
  }
}

void Parser::loop(Statement& s) {
  s.names = target();
  if (!take_name("in")) wrong(now().line, "'in' was expected, not '" + now().text + "'");
  s.values.push_back(tuple(false));
  s.values.push_back(take_name("if") ? condition() : nullptr);
  s.recursive = take_name("recursive");
  block_end();
  s.bodies.push_back(body({"else", "endfor"}));
  take();
  const bool otherwise = take().text == "else";
  block_end();
  if (!otherwise) return;
  s.bodies.push_back(body({"endfor"}));
  take(), take(), block_end();
}

std::vector<std::string> Parser::target() {
  const bool open = take_sign("(");
  std::vector<std::string> names{need_name()};
  while (take_sign(",")) {
    if (now().kind != Token::name || now().named("in")) break;
    names.push_back(need_name());
  }
  if (open) need(")");
  return names;
}

void Parser::set(Statement& s) {
  s.names = target();
  if (s.names.size() == 1 && take_sign(".")) s.of = std::move(s.names[0]), s.names[0] = need_name();
  if (take_sign("=")) {
    s.values.push_back(tuple());
    return block_end();
  }
  if (s.names.size() > 1) wrong(s.line, "'=' was expected, not '" + now().text + "'");
  if (now().is("|")) filters(s);
  end_of(s, "endset");
}

void Parser::parameters(Statement& s) {
  need("(");
  while (!now().is(")")) {
    s.names.push_back(need_name());
    if (take_sign("="))
      s.values.push_back(condition());
    else if (!s.values.empty())
      wrong(s.line, "the parameter '" + s.names.back() + "' has no default, but the one before it has");
    if (!now().is(")")) need(",");
  }
  need(")");
}

void Parser::scope(Statement& s) {
  while (now().kind == Token::name) {
    s.names.push_back(need_name());
    need("=");
    s.values.push_back(condition());
    if (!take_sign(",")) break;
  }
}

// {% set x | trim %}: `|` is there; {% filter trim %}: it is not.
void Parser::filters(Statement& s) {
  const bool first = !now().is("|");
  for (bool named = first; named || take_sign("|"); named = false) s.filters.push_back(filter(nullptr));
}

Body parsed_template(std::string_view source) { return Parser(tokens_of(source)).body({}); }

}  // namespace tenfold::chat
