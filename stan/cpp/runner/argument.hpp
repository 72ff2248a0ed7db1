#pragma once

#include <cmath>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace reliabayes {

// A request that cannot be met; the message names the argument and what was expected.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Runs `read`, and prefixes the message of any other error with `source`, such as "data file=data.json".
template <typename Read>
auto naming(const std::string& source, Read read) {
  try {
    return read();
  } catch (const UsageError&) {
    throw;
  } catch (const std::exception& error) {
    throw UsageError(source + ": " + error.what());
  }
}

// The values a number may take.
struct Interval {
  double low;
  double high;
  bool closed;

  bool contains(double x) const { return closed ? low <= x && x <= high : low < x && x < high; }
};

enum class Kind { section, choice, integer, real, flag, input, output };

// One node of the command line. The tree of nodes in command_line.hpp is the only description of the
// arguments: parsing, errors, help and the configuration in the output traverse that tree.
struct Argument {
  Kind type;
  std::string name;
  std::string help;
  std::string fallback{};            // the value if none is given
  Interval range{};                  // of an integer or a real
  std::vector<Argument> children{};  // the arguments of a section, the alternatives of a choice
  std::optional<std::string> given{};

  const std::string& value() const { return given ? *given : fallback; }
  bool is_default() const { return value() == fallback; }

  const Argument* find(const std::string& child) const {
    for (const Argument& candidate : children)
      if (candidate.name == child) return &candidate;
    return nullptr;
  }
  Argument* find(const std::string& child) {
    return const_cast<Argument*>(std::as_const(*this).find(child));
  }

  const Argument& operator[](const std::string& child) const {
    if (const Argument* found = find(child)) return *found;
    throw std::logic_error("no argument " + name + " " + child);
  }
  const Argument& chosen() const { return (*this)[value()]; }

  int integer() const { return static_cast<int>(count()); }
  long long count() const { return std::stoll(value()); }
  double real() const { return std::stod(value()); }
  bool flag() const { return value() == "1"; }

  // The values that the argument takes, to be read after "expected".
  std::string expectation() const;
};

// The finite decimal number that all of `text` represents, if any; no hexadecimals, no spaces.
inline std::optional<double> to_number(const std::string& text) {
  if (text.empty() || text.find_first_not_of("+-.0123456789eE") != std::string::npos) return {};
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end != text.c_str() + text.size() || !std::isfinite(number)) return {};
  return number;
}

// "diag_e, dense_e"
inline std::string names_of(const std::vector<Argument>& arguments) {
  std::string names;
  for (const Argument& each : arguments) names += (names.empty() ? "" : ", ") + each.name;
  return names;
}

inline std::string Argument::expectation() const {
  std::ostringstream text;
  text.precision(12);
  const bool bounded = std::isfinite(range.high);
  switch (type) {
    case Kind::section:
      return "one of " + names_of(children) + " after it";
    case Kind::choice:
      return "one of " + names_of(children);
    case Kind::flag:
      return "0 or 1";
    case Kind::input:
    case Kind::output:
      return "the name of a file";
    case Kind::integer:
      if (range.low == range.high)
        text << range.low;
      else
        text << "an integer in " << range.low << ".." << range.high;
      break;
    case Kind::real:
      if (bounded)
        text << "a number " << (range.closed ? "from " : "between ") << range.low
             << (range.closed ? " to " : " and ") << range.high;
      else
        text << "a number " << (range.closed ? ">= " : "> ") << range.low;
  }
  return text.str();
}

}  // namespace reliabayes
