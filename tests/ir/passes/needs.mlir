// RUN: not tilec %s --passes=coalesce 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: not tilec %s --passes=assign-layouts,reassociate-addresses 2>&1 | FileCheck %s --check-prefix=LATE
// A pass whose precondition does not hold reports it and names the pass to run first.
// EARLY: error: pass `coalesce` needs a layout for every tile [E0603]
// EARLY: help: run `assign-layouts` before it
// LATE: error: pass `reassociate-addresses` needs tiles without layouts [E0603]
// LATE: help: run it before `assign-layouts`
module {
  func.func @f(%x: f32) -> tensor<32xf32> {
    %t = "tile.splat"(%x) : (f32) -> tensor<32xf32>
    return %t : tensor<32xf32>
  }
}
