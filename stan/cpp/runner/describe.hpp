#pragma once

#include "argument.hpp"

#include <stan/callbacks/structured_writer.hpp>

#include <ostream>
#include <string>

namespace reliabayes {

// The arguments in force, as comments at the top of a CSV.
inline void write_comments(std::ostream& out, const Argument& section, const std::string& indent) {
  for (const Argument& each : section.children) {
    out << indent << each.name;
    if (each.type != Kind::section)
      out << " = " << each.value() << (each.is_default() ? " (Default)" : "");
    out << '\n';
    if (each.type == Kind::section) write_comments(out, each, indent + "  ");
    if (each.type == Kind::choice) {
      out << indent << "  " << each.value() << '\n';
      write_comments(out, each.chosen(), indent + "    ");
    }
  }
}

// The same as JSON; a choice is a record of its value and of the arguments of the chosen alternative.
inline void write_json(stan::callbacks::structured_writer& json, const Argument& section) {
  for (const Argument& each : section.children) {
    switch (each.type) {
      case Kind::section:
        json.begin_record(each.name);
        write_json(json, each);
        json.end_record();
        break;
      case Kind::choice:
        json.begin_record(each.name);
        json.write("value", each.value());
        json.begin_record(each.value());
        write_json(json, each.chosen());
        json.end_record();
        json.end_record();
        break;
      case Kind::integer:
        json.write(each.name, each.count());
        break;
      case Kind::real:
        json.write(each.name, each.real());
        break;
      case Kind::flag:
        json.write(each.name, each.flag());
        break;
      case Kind::input:
      case Kind::output:
        json.write(each.name, each.value());
    }
  }
}

// All arguments with their values and meaning.
inline void write_help(std::ostream& out, const Argument& section, const std::string& indent) {
  for (const Argument& each : section.children) {
    out << indent << each.name;
    if (each.type == Kind::section) {
      out << ": " << each.help << '\n';
      write_help(out, each, indent + "  ");
      continue;
    }
    out << "=<" << each.expectation() << ">: " << each.help;
    if (!each.fallback.empty()) out << "; default " << each.fallback;
    out << '\n';
    if (each.type == Kind::choice) write_help(out, each, indent + "  ");
  }
}

}  // namespace reliabayes
