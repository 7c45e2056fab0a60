// From a chat template's tokens to its tree. Grammar and precedence are Jinja's.
#pragma once

#include "text/chat/ast.h"
#include "text/chat/lexer.h"

namespace tenfold::chat {

// Throws invalid_model (what is wrong, with its line), unsupported (statements that chat templates do not have).
Body parsed_template(std::string_view source);

class Parser {
 public:
  explicit Parser(std::vector<Lexed> tokens) : tokens_(std::move(tokens)) {}
  Body body(std::initializer_list<std::string_view> ends);   // up to a block that begins with one of these names, which is not taken

 private:
  // Statements: parse_statements.cpp.
  void statement(Body& to);
  void branch(Statement& s);
  void loop(Statement& s);
  void set(Statement& s);
  void parameters(Statement& s);
  void scope(Statement& s);
  void filters(Statement& s);
  void block_end();
  void end_of(Statement& s, std::string_view end);           // the body and its end
  std::vector<std::string> target();
  // Expressions, from the weakest to the strongest: parse_expressions.cpp.
  Expr tuple(bool conditions = true);
  Expr condition();
  Expr alternative();
  Expr both();
  Expr negated();
  Expr compared();
  Expr added();
  Expr joined();
  Expr multiplied();
  Expr power();
  Expr signed_value(bool filtered = true);
  Expr behind(Expr of);                                      // .name [item] (call)
  Expr filtered(Expr of);                                    // | filter, is test
  Expr filter(Expr of);
  Expr test(Expr of);
  Expr primary();
  Expr bracket(Expr of);
  void arguments(Expression& to);
  Expr braces();

  const Lexed& now() const { return tokens_[at_]; }
  const Lexed& take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool take_sign(std::string_view sign);
  bool take_name(std::string_view name);
  void need(std::string_view sign);
  std::string need_name();
  Expr made(Expression::Kind kind, std::vector<Expr> parts = {}, std::string name = "") const;
  struct Deeper;                                             // counts how deep the tree is
  std::vector<Lexed> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

struct Parser::Deeper {
  static constexpr int kDeepest = 200;
  explicit Deeper(Parser& parser) : parser_(parser) {
    if (++parser_.depth_ > kDeepest) wrong(parser_.now().line, "it is nested more than " + std::to_string(kDeepest) + " deep");
  }
  ~Deeper() { --parser_.depth_; }
  Parser& parser_;
};

}  // namespace tenfold::chat
