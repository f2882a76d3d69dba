import Testing

@testable import CaromPhysics

@Test func `all case files can be read`() {
  #expect(PhysicsCase.problems == [])
  #expect(PhysicsCase.all.count >= 55)
}

@Test(arguments: PhysicsCase.all)
func `the reference case holds`(_ item: PhysicsCase) {
  var verdict = Verdict(tolerance: item.tolerance)
  switch item.kind {
  case "impulse_disc_disc": verdict.impulseDiscs(item.input, item.expect)
  case "impulse_disc_kinematic": verdict.impulseKinematic(item.input, item.expect)
  case "impulse_disc_rail": verdict.impulseRail(item.input, item.expect)
  case "impulse_disc_rail_friction": verdict.impulseRailFriction(item.input, item.expect)
  case "free_slide": verdict.freeSlide(item.input, item.expect)
  case "free_slide_time": verdict.freeSlideTime(item.input, item.expect)
  case "toi_circle_circle": verdict.circleCircle(item.input, item.expect)
  case "toi_circle_segment": verdict.circleSegment(item.input, item.expect)
  case "table_run": verdict.tableRun(item.input, item.expect)
  case "interpolate": verdict.interpolate(item.input, item.expect)
  case "invariant": verdict.invariant(item.input, item.expect)
  default: verdict.fail("unknown kind \(item.kind)")
  }
  for failure in verdict.failures.prefix(10) { Issue.record("\(item.id): \(failure)") }
}
