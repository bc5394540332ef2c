// The executor of printed kernels as one translation unit; run.h says how it is built.
#include "barriers.cpp"
#undef TWILL_HERE
#include "copies.cpp"
#undef TWILL_HERE
#include "findings.cpp"
#include "memory.cpp"
#include "products.cpp"
#undef TWILL_HERE
#include "schedule.cpp"
#include "warps.cpp"
