#pragma once

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace twill::execute::testing {

/// A loop over the steps of all tiles, as Triton flattens two loops. out[tile] is the sum over the
/// steps k of a[tile + k] * 3 + k, plus tile. CTAs take every fourth tile; steps of a tile are 2
/// apart.
inline const std::string kFlatText =
    R"(tt.func public @f(%a: !tt.ptr<f32>, %o: !tt.ptr<f32>, %tiles: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c4 = arith.constant 4 : i32
  %zero = arith.constant 0.0 : f32
  %three = arith.constant 3.0 : f32
  %pid = tt.get_program_id x : i32
  %steps = arith.ceildivsi %k, %c2 : i32
  %none = arith.cmpi eq, %steps, %c0 : i32
  scf.if %none {
    scf.for %tile = %pid to %tiles step %c4 : i32 {
      %at = tt.addptr %o, %tile : !tt.ptr<f32>, i32
      %number = arith.sitofp %tile : i32 to f32
      %whole = arith.addf %number, %zero : f32
      tt.store %at, %whole : !tt.ptr<f32>
    }
  } else {
    %left = arith.subi %tiles, %pid : i32
    %mine = arith.ceildivsi %left, %c4 : i32
    %again = arith.ceildivsi %k, %c2 : i32
    %n = arith.maxsi %again, %c1 : i32
    %total = arith.muli %mine, %n : i32
    %begin = arith.subi %pid, %c4 : i32
    %last = arith.subi %n, %c1 : i32
    %all:5 = scf.for %i = %c0 to %total step %c1 iter_args(%t = %c0, %before = %begin, %offset = %c0, %acc = %zero, %from = %a) -> (i32, i32, i32, f32, !tt.ptr<f32>) : i32 {
      %first = arith.cmpi eq, %t, %c0 : i32
      %k0 = arith.select %first, %c0, %offset : i32
      %now:2 = scf.if %first -> (i32, !tt.ptr<f32>) {
        %tile = arith.addi %before, %c4 : i32
        %row = tt.addptr %a, %tile : !tt.ptr<f32>, i32
        scf.yield %tile, %row : i32, !tt.ptr<f32>
      } else {
        scf.yield %before, %from : i32, !tt.ptr<f32>
      }
      %p = tt.addptr %now#1, %k0 : !tt.ptr<f32>, i32
      %x = tt.load %p : !tt.ptr<f32>
      %x3 = arith.mulf %x, %three : f32
      %kf = arith.sitofp %k0 : i32 to f32
      %term = arith.addf %x3, %kf : f32
      %sum = arith.addf %acc, %term : f32
      %k1 = arith.addi %k0, %c2 : i32
      %ends = arith.cmpi eq, %t, %last : i32
      %next = scf.if %ends -> (f32) {
        %at = tt.addptr %o, %now#0 : !tt.ptr<f32>, i32
        %number = arith.sitofp %now#0 : i32 to f32
        %whole = arith.addf %sum, %number : f32
        tt.store %at, %whole : !tt.ptr<f32>
        scf.yield %zero : f32
      } else {
        scf.yield %sum : f32
      }
      %t1 = arith.addi %t, %c1 : i32
      %wraps = arith.cmpi eq, %t, %last : i32
      %t2 = arith.select %wraps, %c0, %t1 : i32
      scf.yield %t2, %now#0, %k1, %next, %now#1 : i32, i32, i32, f32, !tt.ptr<f32>
    }
  }
  tt.return
}
)";

using Edits = std::vector<std::pair<std::string, std::string>>;

/// The text with the first occurrence of each edit replaced.
inline std::string edited(std::string text, const Edits& edits) {
  for (const auto& [from, to] : edits) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace twill::execute::testing
