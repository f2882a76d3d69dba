import AirHockey
import CaromCore
import CaromSimulation
import FuzzSupport

/// Sends random messages to a peer, a server and a client of rollback play, and checks that nothing
/// traps and that play continues. Each message is one byte with its kind and receiver, one byte
/// with its length, and its bytes.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = fuzzInput(data, count)
  var play = begun
  var offset = 0
  while offset + 2 <= bytes.count {
    let end = min(bytes.count, offset + 2 + Int(bytes[offset + 1]))
    play.receive(bytes[offset], Array(bytes[offset + 2..<end]))
    offset = end
  }
  play.advance()
  return 0
}

/// The state that each input starts from. It is a value, so each input gets a copy.
private let begun = RollbackPlay()

/// A peer, a server and a client in the middle of a match.
private struct RollbackPlay {
  private var session = RollbackSession(
    Rink(), RollbackConfiguration(local: 0), at: .zero)
  private var server = RollbackServer(Rink(), players: 2, at: .zero)
  private var client = RollbackClient<Rink>(player: 1, at: .zero)
  private var writer = PacketWriter()
  private let player: Int
  private let spectator: Int

  init() {
    player = server.addPlayer(1)
    spectator = server.addSpectator()
    while let (number, message) = server.pollTransmit(into: &writer) {
      let bytes = writer.bytes
      if number == player { try? client.receive(message, bytes.span, at: .zero) }
      writer.removeAll()
    }
    for _ in 0..<4 { advance() }
  }

  mutating func receive(_ head: UInt8, _ bytes: [UInt8]) {
    let message = RollbackMessage(rawValue: head & 3) ?? .inputs
    switch head >> 2 & 3 {
    case 0: try? session.receive(message, bytes.span, from: 1, at: .zero)
    case 1: try? server.receive(message, bytes.span, from: player, at: .zero)
    case 2: try? server.receive(message, bytes.span, from: spectator, at: .zero)
    default: try? client.receive(message, bytes.span, at: .zero)
    }
    if head & 128 != 0 { advance() }
  }

  mutating func advance() {
    session.advance(with: RinkInput())
    server.advance()
    client.advance(with: RinkInput(MalletInput(x: 4_000, y: 100)))
    writer.removeAll()
    for _ in 0..<8 { _ = session.pollTransmit(into: &writer) }
    for _ in 0..<8 { _ = server.pollTransmit(into: &writer) }
    for _ in 0..<8 { _ = client.pollTransmit(into: &writer) }
    while client.pollEvent() != nil {}
    while client.pollDesync() != nil {}
  }
}
