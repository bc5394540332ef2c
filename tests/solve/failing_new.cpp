#include "solve/failing_new.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace twill::solve_test {

std::int64_t allocations_left = -1;

namespace {

bool is_the_one() { return allocations_left >= 0 && allocations_left-- == 0; }

}  // namespace
}  // namespace twill::solve_test

void* operator new(std::size_t size) {
  void* const memory =
      twill::solve_test::is_the_one() ? nullptr : std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
