#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace twill::gate {

/// Whether a printed kernel may be used, by the checks that were made.
enum class Standing { accepted, refused, unchecked };

std::string_view name_of(Standing standing);

/// Judgement of a printed kernel, with the facts behind it.
struct Verdict {
  /// Registers, spills and properties of the machine code, a line each.
  std::vector<std::string> facts;
  std::vector<std::string> refusals;  ///< reasons why the kernel must not be used
  bool compiled = false;  ///< whether nvcc compiled it: then refusals are about the code of ptxas
  bool overlaps_lost = false;  ///< whether a refusal says that the code does not overlap as planned
  std::string unchecked = {};  ///< why the kernel was not compiled; empty if it was
  std::string code_unread = {};  ///< why the machine code was not read; empty if it was
  std::string cubin = {};        ///< the machine code, if it is accepted
  std::string nvcc = {};         ///< path and release of the programs that were used
  std::string nvcc_release = {};
  std::string nvdisasm = {};

  Standing standing() const;
};

/// The verdict in a line: "accepted", "refused", "accepted, machine code not checked: there is no
/// nvdisasm". Without nvcc: "spills and machine code not checked: there is no nvcc".
std::string words_of(const Verdict& verdict);

/// The text of status.json, which lies beside a kernel's source (docs/reference/cuda.md has its
/// members). `name` and `text`: of the file with the source.
std::string status_json(const Verdict& verdict, const std::string& name, std::string_view text);

}  // namespace twill::gate
