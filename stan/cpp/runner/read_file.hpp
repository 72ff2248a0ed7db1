#pragma once

#include "argument.hpp"

#include <fstream>
#include <sstream>
#include <string>

namespace reliabayes {

// The content of a file; `asked` is the argument that names it.
inline std::string read_file(const std::string& asked, const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  std::ostringstream content;
  if (file.is_open() && file.peek() != std::ifstream::traits_type::eof()) content << file.rdbuf();
  if (!file.is_open() || file.bad() || content.bad())
    throw UsageError(asked + "=" + name + ": expected a file that can be read");
  return content.str();
}

}  // namespace reliabayes
