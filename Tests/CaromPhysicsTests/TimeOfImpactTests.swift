import Testing

@testable import CaromPhysics

private let segment = (a: Vector(0, 0), b: Vector(2, 0))

private func impact(atX x: Double) -> TimeOfImpact.SegmentContact? {
  TimeOfImpact.circleSegment(
    position: Vector(x, 2), velocity: Vector(0, -1), radius: 0.5, from: segment.a, to: segment.b)
}

@Test(arguments: [0, 0.5, 2])
func `a circle above a segment touches the segment`(x: Double) {
  #expect(impact(atX: x)?.time == 1.5)
  #expect(impact(atX: x)?.normal == Vector(0, 1))
}

@Test(
  arguments: [(-0.3, .start, -0.6), (2.3, .end, 0.6)] as [(Double, TimeOfImpact.Feature, Double)])
func `a circle beside a segment touches only its end point`(
  x: Double, feature: TimeOfImpact.Feature, normal: Double
) throws {
  let contact = try #require(impact(atX: x))
  #expect(contact.feature == feature)
  #expect((contact.time - 1.6).magnitude < 1e-12)
  #expect((contact.normal - Vector(normal, 0.8)).length < 1e-12)
}

@Test(arguments: [-0.5625, 2.5625])
func `a circle more than its radius beside a segment passes`(x: Double) {
  #expect(impact(atX: x) == nil)
}
