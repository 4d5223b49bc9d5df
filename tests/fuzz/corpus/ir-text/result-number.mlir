// tilec --passes=dce
module {
  func.func @f(%n: i32) -> i32 {
    %w:2 = scf.while (%a = %n, %b = %n) : (i32, i32) -> (i32, i32) {
      %go = arith.cmpi slt, %a, %b : i32
      scf.condition(%go) %a, %b : i32, i32
    } do {
    ^bb0(%c: i32, %d: i32):
      scf.yield %d, %c : i32, i32
    }
    return %w#2147483647 : i32
  }
}
