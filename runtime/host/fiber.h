#pragma once

#include <cstddef>
#include <cstdint>

/// Separate stacks for the threads of a CTA. A switch saves the registers that a call preserves,
/// and takes a few instructions.
extern "C" void twill_run_switch(void** save, void* restore);

#if defined(__x86_64__)
asm(R"(
.text
.globl twill_run_switch
.type twill_run_switch, @function
twill_run_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size twill_run_switch, .-twill_run_switch
)");
namespace twill::run {
inline constexpr int kSavedWords = 8;     // six registers, the return address, one for alignment
inline constexpr int kReturnAddress = 6;  // index of the return address among these words
}  // namespace twill::run
#elif defined(__aarch64__)
asm(R"(
.text
.globl twill_run_switch
.type twill_run_switch, %function
twill_run_switch:
  sub sp, sp, #160
  stp x19, x20, [sp]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size twill_run_switch, .-twill_run_switch
)");
namespace twill::run {
inline constexpr int kSavedWords = 20;
inline constexpr int kReturnAddress = 11;
}  // namespace twill::run
#else
#error "the executor knows x86-64 and AArch64"
#endif

namespace twill::run {

/// The saved state of a thread that will begin at `entry`, on a stack that ends at `top`.
inline void* fresh_stack(char* top, void (*entry)()) {
  auto* words = reinterpret_cast<std::uintptr_t*>(top) - kSavedWords;
  for (int i = 0; i < kSavedWords; ++i) words[i] = 0;
  words[kReturnAddress] = reinterpret_cast<std::uintptr_t>(entry);
  return words;
}

}  // namespace twill::run
