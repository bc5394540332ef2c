# Writes, as a script, OUTPUT: a C++ source with the text of FILES (names below ROOT, with | between them). A library then finds these texts without
# any file beside it. The definitions belong to twill/support/shipped_files.h.

string(REPLACE "|" ";" names "${FILES}")
set(entries "")
foreach(name IN LISTS names)
  file(READ "${ROOT}/${name}" text)
  if(text MATCHES "\\)TWILL\"")
    message(FATAL_ERROR "${name} cannot be shipped: it contains )TWILL\"")
  endif()
  string(APPEND entries "    {\"${name}\", R\"TWILL(${text})TWILL\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "#include \"twill/support/shipped_files.h\"

namespace twill::support {

std::span<const ShippedFile> shipped_files() {
  static constexpr ShippedFile kFiles[] = {
${entries}  };
  return kFiles;
}

}  // namespace twill::support
")
