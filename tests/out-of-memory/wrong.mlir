// SPDX-License-Identifier: Apache-2.0
module {
  func.func @k(%x: i32) attributes {tile.kernel} {
    %0 = arith.addi %x, %x : i64
    %1 = "tile.load"(%0) : (i64) -> tensor<8xf32>
    return
  }
}
