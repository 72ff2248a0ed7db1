// Constructors of the nodes of the tree of arguments in command_line.hpp.
#pragma once

#include "argument.hpp"

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace reliabayes {

inline Argument section(std::string name, std::string help, std::vector<Argument> children = {}) {
  Argument result{Kind::section, std::move(name), std::move(help)};
  result.children = std::move(children);
  return result;
}

inline Argument choice(std::string name, std::string fallback, std::string help,
                       std::vector<Argument> alternatives) {
  Argument result{Kind::choice, std::move(name), std::move(help), std::move(fallback)};
  result.children = std::move(alternatives);
  return result;
}

inline Argument integer(std::string name, std::string fallback, Interval range, std::string help) {
  return {Kind::integer, std::move(name), std::move(help), std::move(fallback), range};
}

inline Argument real(std::string name, std::string fallback, Interval range, std::string help) {
  return {Kind::real, std::move(name), std::move(help), std::move(fallback), range};
}

inline Argument flag(std::string name, std::string fallback, std::string help) {
  return {Kind::flag, std::move(name), std::move(help), std::move(fallback)};
}

inline Argument input(std::string name, std::string fallback, std::string help) {
  return {Kind::input, std::move(name), std::move(help), std::move(fallback)};
}

inline Argument output(std::string name, std::string fallback, std::string help) {
  return {Kind::output, std::move(name), std::move(help), std::move(fallback)};
}

// Stan adds numbers of iterations as int; the sum of two of these still fits.
constexpr double most = 1e9;
constexpr Interval from_zero{0, most, true};
constexpr Interval from_one{1, most, true};
constexpr Interval only_one{1, 1, true};
constexpr Interval positive{0, std::numeric_limits<double>::infinity(), false};
constexpr Interval inside_unit{0, 1, false};
constexpr Interval unit{0, 1, true};

}  // namespace reliabayes
