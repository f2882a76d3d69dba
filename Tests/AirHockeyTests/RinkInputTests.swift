import AirHockey
import CaromPhysics
import CaromSimulation
import Testing

/// WireFormat, Air hockey: if an input is missing, the host uses the previous one without its
/// request.
@Test(arguments: [.pause, .resume, .startMatch, .restart] as [RinkInput.Request])
func `a missing input repeats the one before it without the request`(request: RinkInput.Request) {
  let mallet = MalletInput(Vector(0.5, 0.1))
  var inputs = InputBuffer<RinkInput>(from: Tick(9))
  inputs.append(RinkInput(mallet, request: request))
  #expect(inputs.input(at: Tick(9)).request == request)
  #expect(inputs.input(at: Tick(10)) == RinkInput(mallet))
  #expect(inputs.input(at: Tick(200)) == RinkInput(mallet))
}
