// What travels through the ops under test: numbers that are counted, so that one which is never
// destroyed is noticed.
#pragma once

#include <penstock/element.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/random_graphs/payload.h"

namespace conformance {

// How many tokens there are. Shared by all of them. Any thread.
class Census {
 public:
  std::int64_t alive() const { return alive_; }
  void enter() { ++alive_; }
  void leave() { --alive_; }

 private:
  std::atomic<std::int64_t> alive_{0};
};

using CensusRef = std::shared_ptr<Census>;

inline constexpr std::size_t kTokenBytes = 100;

// A token that has been moved from is none.
class Token {
 public:
  Token(std::int64_t number, CensusRef census) : census_(std::move(census)), number_(number) { enter(); }
  Token(const Token& other) : census_(other.census_), number_(other.number_) { enter(); }
  Token(Token&& other) noexcept = default;
  Token& operator=(Token other) noexcept {
    std::swap(census_, other.census_);
    std::swap(number_, other.number_);
    return *this;
  }
  ~Token() {
    if (census_ != nullptr) census_->leave();
  }

  std::int64_t number() const { return number_; }
  friend std::size_t bytes_of(const Token&) { return kTokenBytes; }
  friend bool operator==(const Token& a, const Token& b) { return a.number_ == b.number_; }

 private:
  void enter() {
    if (census_ != nullptr) census_->enter();
  }

  CensusRef census_;
  std::int64_t number_;
};

// The same, for code that must not copy.
class MoveOnlyToken {
 public:
  MoveOnlyToken(std::int64_t number, CensusRef census) : token_(number, std::move(census)) {}
  MoveOnlyToken(MoveOnlyToken&&) noexcept = default;
  MoveOnlyToken& operator=(MoveOnlyToken&&) noexcept = default;

  std::int64_t number() const { return token_.number(); }
  friend std::size_t bytes_of(const MoveOnlyToken&) { return kTokenBytes; }

 private:
  Token token_;
};

// What all payloads of the suite are printed as: "7", or "[7 8]".
inline std::int64_t number_of(std::int64_t x) { return x; }
inline std::int64_t number_of(const std::string& path) { return random_graphs::number_in(path); }
inline std::int64_t number_of(const Token& token) { return token.number(); }
inline std::int64_t number_of(const MoveOnlyToken& token) { return token.number(); }

std::string text_of(const model::Value& value);
template <class T> std::string text_of(const T& value) { return std::to_string(number_of(value)); }
template <class T> std::string text_of(const std::vector<T>& rows) {
  std::string text = "[";
  for (const T& row : rows) text += (text.size() > 1 ? " " : "") + text_of(row);
  return text + "]";
}

template <class T> std::string text_of(const penstock::Rows<T>& rows) {
  return text_of(static_cast<const std::vector<T>&>(rows));
}

template <class First, class T> std::string text_of(const std::tuple<First, T>& pair) {
  return "[" + text_of(std::get<0>(pair)) + " " + text_of(std::get<1>(pair)) + "]";
}

inline std::string text_of(const model::Value& value) {
  return value.is_list ? text_of(value.rows) : std::to_string(value.number);
}

}  // namespace conformance

template <> struct std::hash<conformance::Token> {
  std::size_t operator()(const conformance::Token& token) const noexcept {
    return static_cast<std::size_t>(token.number());
  }
};
