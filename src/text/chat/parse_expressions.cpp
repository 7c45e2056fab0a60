// Expressions, each function one strength of binding.
#include <algorithm>
#include <charconv>

#include "text/chat/parser.h"

namespace tenfold::chat {

namespace {

std::vector<Expr> parts_of(Expr a, Expr b = nullptr, Expr c = nullptr, Expr d = nullptr, int count = 2) {
  std::vector<Expr> parts;
  for (Expr* one : {&a, &b, &c, &d})
    if (static_cast<int>(parts.size()) < count) parts.push_back(std::move(*one));
  return parts;
}

}  // namespace

Expr Parser::made(Expression::Kind kind, std::vector<Expr> parts, std::string name) const {
  auto expression = std::make_unique<Expression>();
  expression->kind = kind, expression->line = now().line, expression->name = std::move(name);
  for (const Expr& part : parts)
    if (part) expression->depth = std::max(expression->depth, part->depth + 1);
  if (expression->depth > 2 * Deeper::kDeepest)
    wrong(now().line, "an expression has more than " + std::to_string(2 * Deeper::kDeepest) + " operators behind each other");
  expression->parts = std::move(parts);
  return expression;
}

Expr Parser::tuple(bool conditions) {
  const auto one = [&] { return conditions ? condition() : alternative(); };
  Expr first = one();
  if (!now().is(",")) return first;
  std::vector<Expr> parts;
  parts.push_back(std::move(first));
  while (take_sign(",")) {
    const Token kind = now().kind;
    if (kind == Token::variable_end || kind == Token::block_end || now().is(")")) break;
    parts.push_back(one());
  }
  return made(Expression::Kind::tuple, std::move(parts));
}

Expr Parser::condition() {
  const Deeper deeper(*this);
  Expr value = alternative();
  while (take_name("if")) {
    Expr when = alternative();
    Expr otherwise = take_name("else") ? condition() : nullptr;
    value = made(Expression::Kind::condition, parts_of(std::move(value), std::move(when), std::move(otherwise), nullptr, 3));
  }
  return value;
}

Expr Parser::alternative() {
  Expr value = both();
  while (take_name("or")) value = made(Expression::Kind::binary, parts_of(std::move(value), both()), "or");
  return value;
}

Expr Parser::both() {
  Expr value = negated();
  while (take_name("and")) value = made(Expression::Kind::binary, parts_of(std::move(value), negated()), "and");
  return value;
}

Expr Parser::negated() {
  if (!take_name("not")) return compared();
  const Deeper deeper(*this);
  return made(Expression::Kind::logical_not, parts_of(negated(), nullptr, nullptr, nullptr, 1));
}

Expr Parser::compared() {
  std::vector<Expr> parts;
  std::vector<std::string> signs;
  parts.push_back(added());
  for (;;) {
    const bool sign = now().kind == Token::sign && (now().text == "==" || now().text == "!=" || now().text == "<" || now().text == "<=" ||
                                                    now().text == ">" || now().text == ">=");
    if (sign || now().named("in")) {
      signs.push_back(take().text);
    } else if (now().named("not") && tokens_[at_ + 1].named("in")) {
      take(), take(), signs.emplace_back("not in");
    } else {
      break;
    }
    parts.push_back(added());
  }
  if (signs.empty()) return std::move(parts[0]);
  Expr value = made(Expression::Kind::compare, std::move(parts));
  value->signs = std::move(signs);
  return value;
}

Expr Parser::added() {
  Expr value = joined();
  while (now().is("+") || now().is("-")) {
    const std::string sign = take().text;
    value = made(Expression::Kind::binary, parts_of(std::move(value), joined()), sign);
  }
  return value;
}

Expr Parser::joined() {
  Expr value = multiplied();
  while (take_sign("~")) value = made(Expression::Kind::binary, parts_of(std::move(value), multiplied()), "~");
  return value;
}

Expr Parser::multiplied() {
  Expr value = power();
  while (now().is("*") || now().is("/") || now().is("//") || now().is("%")) {
    const std::string sign = take().text;
    value = made(Expression::Kind::binary, parts_of(std::move(value), power()), sign);
  }
  return value;
}

Expr Parser::power() {
  Expr value = signed_value();
  while (take_sign("**")) value = made(Expression::Kind::binary, parts_of(std::move(value), signed_value()), "**");
  return value;
}

Expr Parser::signed_value(bool with_filters) {
  Expr value;
  if (now().is("-") || now().is("+")) {
    const Deeper deeper(*this);
    const auto kind = take().is("-") ? Expression::Kind::negate : Expression::Kind::plus;
    value = made(kind, parts_of(signed_value(false), nullptr, nullptr, nullptr, 1));
  } else {
    value = primary();
  }
  value = behind(std::move(value));
  return with_filters ? filtered(std::move(value)) : std::move(value);
}

Expr Parser::behind(Expr of) {
  for (;;) {
    if (take_sign(".")) {
      if (now().kind == Token::integer) {
        Expr at = primary();
        of = made(Expression::Kind::item, parts_of(std::move(of), std::move(at)));
      } else {
        std::string name = need_name();
        of = made(Expression::Kind::attribute, parts_of(std::move(of), nullptr, nullptr, nullptr, 1), std::move(name));
      }
    } else if (take_sign("[")) {
      of = bracket(std::move(of));
    } else if (now().is("(")) {
      of = made(Expression::Kind::call, parts_of(std::move(of), nullptr, nullptr, nullptr, 1));
      arguments(*of);
    } else {
      return of;
    }
  }
}

Expr Parser::bracket(Expr of) {
  Expr from = now().is(":") ? nullptr : tuple();
  if (take_sign("]")) return made(Expression::Kind::item, parts_of(std::move(of), std::move(from)));
  need(":");
  Expr to = now().is(":") || now().is("]") ? nullptr : condition(), step;
  if (take_sign(":") && !now().is("]")) step = condition();
  need("]");
  return made(Expression::Kind::slice, parts_of(std::move(of), std::move(from), std::move(to), std::move(step), 4));
}

// `(` is next. Behind parts that are there.
void Parser::arguments(Expression& to) {
  need("(");
  while (!now().is(")")) {
    if (now().is("*") || now().is("**")) missing(now().line, "arguments of the form *list and **dict are not supported");
    Expr value;
    if (now().kind == Token::name && tokens_[at_ + 1].is("=")) {
      std::string name = take().text;
      take(), value = condition();
      to.depth = std::max(to.depth, value->depth + 1);
      to.named.emplace_back(std::move(name), std::move(value));
    } else {
      if (!to.named.empty()) wrong(now().line, "an argument without a name stands behind one with a name");
      value = condition();
      to.depth = std::max(to.depth, value->depth + 1);
      to.parts.push_back(std::move(value));
    }
    if (!now().is(")")) need(",");
  }
  need(")");
}

Expr Parser::filtered(Expr of) {
  for (;;) {
    if (take_sign("|"))
      of = filter(std::move(of));
    else if (take_name("is"))
      of = test(std::move(of));
    else if (now().is("("))
      of = made(Expression::Kind::call, parts_of(std::move(of), nullptr, nullptr, nullptr, 1)), arguments(*of);
    else
      return of;
  }
}

Expr Parser::filter(Expr of) {
  std::string name = need_name();
  Expr value = made(Expression::Kind::filter, parts_of(std::move(of), nullptr, nullptr, nullptr, 1), std::move(name));
  if (now().is("(")) arguments(*value);
  return value;
}

Expr Parser::test(Expr of) {
  const bool negative = take_name("not");
  std::string name = now().is("==") || now().is("in") ? take().text : need_name();
  Expr value = made(Expression::Kind::test, parts_of(std::move(of), nullptr, nullptr, nullptr, 1), std::move(name));
  const Lexed& next = now();
  const bool word = next.kind == Token::name && !next.named("else") && !next.named("or") && !next.named("and") && !next.named("is") &&
                    !next.named("if") && !next.named("in") && !next.named("not") && !next.named("recursive");
  if (next.is("(")) {
    arguments(*value);
  } else if (word || next.kind == Token::text || next.kind == Token::integer || next.kind == Token::real || next.is("[") || next.is("{")) {
    Expr argument = behind(primary());
    value->depth = std::max(value->depth, argument->depth + 1);
    value->parts.push_back(std::move(argument));
  }
  return negative ? made(Expression::Kind::logical_not, parts_of(std::move(value), nullptr, nullptr, nullptr, 1)) : std::move(value);
}

// Not counted by Deeper: what it holds is a condition, which is.
Expr Parser::primary() {
  const Lexed token = now();
  Expr value = made(Expression::Kind::constant);
  take();
  if (token.kind == Token::name) {
    std::string lower = token.text;
    if (lower == "True" || lower == "False" || lower == "None") lower[0] = static_cast<char>(lower[0] | 0x20);
    if (lower == "true" || lower == "false")
      value->value = lower == "true";
    else if (lower == "none")
      value->value = None{};
    else
      value->kind = Expression::Kind::name, value->name = token.text;
  } else if (token.kind == Token::text) {
    std::string text = token.text;
    while (now().kind == Token::text) text += take().text;
    value->value = std::move(text);
  } else if (token.kind == Token::integer) {
    std::int64_t number = 0;
    if (std::from_chars(token.text.data(), token.text.data() + token.text.size(), number).ec != std::errc())
      wrong(token.line, "the number " + token.text + " is too large");
    value->value = number;
  } else if (token.kind == Token::real) {
    double number = 0;
    std::from_chars(token.text.data(), token.text.data() + token.text.size(), number);
    value->value = number;
  } else if (token.is("(")) {
    if (take_sign(")")) return made(Expression::Kind::tuple);
    value = tuple();
    need(")");
  } else if (token.is("[")) {
    std::vector<Expr> parts;
    while (!now().is("]")) {
      parts.push_back(condition());
      if (!now().is("]")) need(",");
    }
    need("]");
    value = made(Expression::Kind::list, std::move(parts));
  } else if (token.is("{")) {
    value = braces();
  } else {
    wrong(token.line, token.text.empty() ? "a value was expected, but the tag ends" : "a value was expected, not '" + token.text + "'");
  }
  return value;
}

Expr Parser::braces() {
  std::vector<Expr> parts;
  while (!now().is("}")) {
    parts.push_back(condition());
    need(":");
    parts.push_back(condition());
    if (!now().is("}")) need(",");
  }
  need("}");
  return made(Expression::Kind::dict, std::move(parts));
}

}  // namespace tenfold::chat
