import Foundation
import Testing

@testable import CaromPhysics

private func unitsApart(_ a: Double, _ b: Double) -> Double { (a - b).magnitude / b.ulp }

@Test func `the exponential function has an error of at most two units in the last place`() {
  var random = Draws(seed: 1)
  var worst = 0.0
  for _ in 0..<20_000 {
    for range in [-1e-6...1e-6, -0.4...0.4, -5...5, -300...300] {
      let x = random.next(in: range)
      worst = max(worst, unitsApart(PortableMath.expMinusOne(x), expm1(x)))
    }
  }
  #expect(worst <= 2)
  #expect(PortableMath.expMinusOne(0) == 0)
}

@Test func `the logarithm has an error of at most two units in the last place`() {
  var random = Draws(seed: 2)
  var worst = 0.0
  for _ in 0..<20_000 {
    for range in [-1e-6...1e-6, -0.3...0.5, -0.999...0, 0...1e6] {
      let x = random.next(in: range)
      worst = max(worst, unitsApart(PortableMath.log(onePlus: x), log1p(x)))
    }
  }
  #expect(worst <= 2)
  #expect(PortableMath.log(onePlus: 0) == 0)
}

@Test func `lattice rounding is to nearest, ties to even, and symmetric in the sign`() {
  #expect(Lattice.units(1) == 1 << 32)
  #expect(Lattice.units(-1.5) == -(3 << 31))
  #expect(Lattice.units(0x1p-33) == 0)
  #expect(Lattice.units(0x3p-33) == 2)
  #expect(Lattice.units(-0x3p-33) == -2)
  #expect(Lattice.rounded(-0x1p-40).sign == .plus)
  var random = Draws(seed: 3)
  for _ in 0..<1_000 {
    let value = random.next(in: -1_000...1_000)
    #expect(Lattice.units(value) == Int64((value * 0x1p32).rounded(.toNearestOrEven)))
    #expect(Lattice.units(-value) == -Lattice.units(value))
    #expect(Lattice.units(Lattice.rounded(value)) == Lattice.units(value))
  }
}
