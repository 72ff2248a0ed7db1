#pragma once

#include "argument.hpp"

#include <charconv>
#include <string>
#include <vector>

namespace reliabayes {

// Fills the tree of arguments from the words of the command line by CmdStan's rules: a section stays
// open for the words that follow; a word that is not one of its arguments closes it and is looked up
// in the enclosing section.
class Parser {
 public:
  explicit Parser(Argument& root) : root_(root), open_{&root} {}

  void read(const std::string& word) {
    const auto equals = word.find('=');
    const std::string name = word.substr(0, equals);
    Argument* found = look_up(name);
    if (!found && equals == std::string::npos && (found = look_up_choice(name)))
      return choose(*found, name);
    if (!found) throw UsageError(unknown(name));
    if (found->type == Kind::section) {
      if (equals != std::string::npos)
        throw UsageError(word + ": " + name + " takes no value; expected " + found->expectation());
      found->given = "";
      open_.push_back(found);
    } else if (equals == std::string::npos) {
      throw UsageError(name + ": expected " + name + "=<" + found->expectation() + ">");
    } else {
      choose(*found, word.substr(equals + 1));
    }
  }

 private:
  Argument& root_;
  std::vector<Argument*> open_;  // outermost first

  template <typename Search>
  Argument* from_inside_out(Search search) {
    for (auto depth = open_.size(); depth > 0; --depth)
      if (Argument* found = search(*open_[depth - 1])) {
        open_.resize(depth);
        return found;
      }
    return nullptr;
  }

  Argument* look_up(const std::string& name) {
    return from_inside_out([&](Argument& section) { return section.find(name); });
  }

  // `sample` alone stands for `method=sample`.
  Argument* look_up_choice(const std::string& alternative) {
    return from_inside_out([&](Argument& section) -> Argument* {
      for (Argument& child : section.children)
        if (child.type == Kind::choice && child.find(alternative)) return &child;
      return nullptr;
    });
  }

  void choose(Argument& found, const std::string& text) {
    if (found.given)
      throw UsageError(found.name + " is given twice: " + *found.given + " and " + text);
    found.given = checked(found, text);
    if (found.type == Kind::choice) open_.push_back(found.find(text));
  }

  static std::string checked(const Argument& found, const std::string& text) {
    if (!fits(found, text))
      throw UsageError(found.name + "=" + text + ": expected " + found.expectation() + " (" +
                       found.help + ")");
    if (found.type == Kind::flag) return text == "1" || text == "true" ? "1" : "0";
    return text;
  }

  static bool fits(const Argument& found, const std::string& text) {
    if (found.type == Kind::choice) return found.find(text) != nullptr;
    if (found.type == Kind::flag)
      return text == "0" || text == "1" || text == "false" || text == "true";
    if (found.type == Kind::input || found.type == Kind::output) return !text.empty();
    if (found.type == Kind::integer) {
      long long number = 0;
      const auto end = text.data() + text.size();
      const auto read = std::from_chars(text.data(), end, number);
      return read.ec == std::errc() && read.ptr == end && found.range.contains(number);
    }
    const auto number = to_number(text);
    return number && found.range.contains(*number);
  }

  std::string unknown(const std::string& name) const {
    const std::string place = home(root_, name, "");
    if (!place.empty()) return name + " belongs after " + place;
    std::string known;
    for (auto section = open_.rbegin(); section != open_.rend(); ++section)
      known += (known.empty() ? "" : ", ") + names_of((*section)->children);
    return "unknown argument " + name + ": expected one of " + known;
  }

  // The words that open the section of an argument, such as "method=sample adapt".
  static std::string home(const Argument& section, const std::string& name,
                          const std::string& opened) {
    if (section.find(name)) return opened;
    for (const Argument& child : section.children) {
      const bool alternatives = child.type == Kind::choice;
      for (const Argument& inner : alternatives ? child.children : std::vector<Argument>{child}) {
        const std::string word = alternatives ? child.name + "=" + inner.name : child.name;
        const std::string place = home(inner, name, opened + (opened.empty() ? "" : " ") + word);
        if (!place.empty()) return place;
      }
    }
    return "";
  }
};

}  // namespace reliabayes
