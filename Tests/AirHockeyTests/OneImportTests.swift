import AirHockey
import Testing

@Test func `a match needs no import but the game's`() throws {
  var rink = Rink()
  var writer = PacketWriter()
  let tick: Tick = rink.state.tick
  _ = rink.step(home: MalletInput(Vector(-0.5, 0)), away: MalletInput(Vector(0.5, 0)))
  rink.encode(into: &writer)
  #expect(try Rink(decoding: writer.bytes.span) == rink && rink.state.tick == tick.next)
}
