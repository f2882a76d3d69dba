import Testing

@testable import CaromSimulation

@Suite struct EntityFieldTests {
  @Test func `values are rounded to the nearest step within the bounds`() {
    let field = EntityField.position(-2...3, step: 0.5)
    #expect(field.quantized(0.26) == 1)
    #expect(field.quantized(-9) == -4)
    #expect(field.quantized(.infinity) == 6)
    #expect(field.quantized(.nan) == -4)
  }

  @Test func `angles wrap around`() {
    let field = EntityField.angle(bits: 8)
    #expect(field.quantized(-.pi / 2) == 192)
    #expect(field.quantized(4 * .pi) == 0)
    #expect(field.quantized(.nan) == 0)
    #expect(field.wrapped(256) == 0)
    #expect(field.wrapped(-1) == 255)
  }

  @Test func `a field takes as many bits as its bounds need`() {
    #expect(EntityField.flag.width == 1)
    #expect(EntityField.integer(5...5).width == 0)
    #expect(EntityField.integer(0...100).width == 7)
    #expect(EntityField(-(1 << 47)...(1 << 47) - 1).width == 48)
  }
}
