import CaromCore
import Testing

@testable import CaromSimulation

/// Players who take and leave seats at a server, and their late inputs.
@Suite struct RollbackSeatTests {
  /// The packets of a client whose first input is that of tick 0.
  private struct Sender {
    private var inputs = InputBuffer<Swarm.Input>()

    /// Makes the packet with the client's next inputs.
    mutating func makePacket(_ new: [Swarm.Input], needing needed: Tick) -> RollbackPacket {
      let first = inputs.end
      for input in new { inputs.append(input) }
      var header = InputHeader(first: first, count: new.count, acknowledged: needed)
      header.context = inputs.context(before: first)
      var writer = PacketWriter()
      header.encode(into: &writer)
      var coder = InputCoder<Swarm.Input>()
      var bits = BitWriter()
      inputs.writeRun(
        from: first, count: new.count, context: header.context, coder: &coder, bits: &bits,
        into: &writer)
      bits.finish(&writer)
      return RollbackPacket(.inputs, writer.bytes)
    }
  }

  private var server = RollbackServer(Swarm(count: 2, seed: 1), players: 2, at: .zero)
  private var sender = Sender()

  /// The numbers of the clients to which a message is due.
  private mutating func recipients() -> Set<Int> {
    var recipients: Set<Int> = []
    while let (number, _) = server.pollPacket() { recipients.insert(number) }
    return recipients
  }

  @Test mutating func `the action of a late input applies once, in the next tick`() throws {
    let number = server.addPlayer(0)
    let first = sender.makePacket([Swarm.Input(push: 1)], needing: .zero)
    try server.receive(first, from: number, at: .zero)
    for _ in 0..<3 { server.advance() }
    let late = [Swarm.Input(push: 5, wish: .spawn), Swarm.Input(push: 6)]
    let packet = sender.makePacket(late, needing: Tick(3))
    for _ in 0..<2 { try server.receive(packet, from: number, at: .zero) }
    for _ in 0..<2 { server.advance() }
    let applied = (0..<5).map { server.broadcaster.input(for: 0, at: Tick($0)) }
    let held = Swarm.Input(push: 1)
    #expect(
      applied == [held, held, held, Swarm.Input(push: 6, wish: .spawn), Swarm.Input(push: 6)])
  }

  /// WireFormat, Air hockey, An input: what the player wanted last counts.
  @Test mutating func `the action of the next tick's own input replaces that of a late one`() throws
  {
    let number = server.addPlayer(0)
    try server.receive(
      sender.makePacket([Swarm.Input(push: 1)], needing: .zero), from: number, at: .zero)
    for _ in 0..<2 { server.advance() }
    let inputs = [
      Swarm.Input(push: 5, wish: .spawn), Swarm.Input(push: 6, wish: .kill),
      Swarm.Input(push: 7),
    ]
    try server.receive(sender.makePacket(inputs, needing: Tick(2)), from: number, at: .zero)
    for _ in 0..<3 { server.advance() }
    let applied = (0..<5).map { server.broadcaster.input(for: 0, at: Tick($0)) }
    let held = Swarm.Input(push: 1)
    let last = Swarm.Input(push: 7)
    #expect(applied == [held, held, inputs[1], last, last])
  }

  @Test mutating func `the client of a removed player gets nothing more, and its place is free`()
    throws
  {
    let number = server.addPlayer(0)
    let spectator = server.addSpectator()
    server.advance()
    let before = recipients()
    #expect(before == [number, spectator])
    server.removePlayer(0)
    server.advance()
    let after = recipients()
    #expect(after == [spectator])
    let next = server.addPlayer(0)
    #expect(next == number)
    let again = recipients()
    #expect(again == [number])
  }

  @Test mutating func `a new client begins with empty inputs, not with those of the one before`()
    throws
  {
    let old = server.addPlayer(0)
    let inputs = Array(repeating: Swarm.Input(push: 7), count: 10)
    try server.receive(sender.makePacket(inputs, needing: .zero), from: old, at: .zero)
    for _ in 0..<4 { server.advance() }
    server.removePlayer(0)
    server.advance()
    _ = server.addPlayer(0)
    server.advance()
    let applied = (3..<6).map { server.broadcaster.input(for: 0, at: Tick($0)) }
    #expect(applied == [Swarm.Input(push: 7), Swarm.Input(), Swarm.Input()])
  }
}
