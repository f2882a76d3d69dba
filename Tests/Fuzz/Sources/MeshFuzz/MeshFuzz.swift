import CaromCore
import CaromGroup
import CaromProtocol
import FuzzSupport

/// Runs the input as a script: what discovery finds, what the connections of peers do and what they
/// send, and what the application commands in between. The machine must not trap, and must never
/// use two connections to one peer.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = fuzzInput(data, count)
  if let message = try? MeshMessage(decoding: bytes.span) {
    let encoded = message.encoded
    precondition((try? MeshMessage(decoding: encoded.span)) == message, "it is read as written")
  }
  var script = FuzzScript(bytes)
  var owner = GroupOwner(script.next())
  while !script.isAtEnd {
    owner.step(&script)
    owner.drain()
  }
  return 0
}

/// A group of peers and an owner that does what a script says.
struct GroupOwner {
  private var group: PeerGroup
  private var now = Instant.zero
  private var open: Set<ConnectionID> = []
  private var joined: [PeerID: ConnectionID] = [:]
  private var invitations: [(peer: PeerID, number: UInt32)] = []

  init(_ choice: UInt8) {
    var options = Mesh.Options()
    options.joinsEveryone = choice & 1 == 0
    options.limit = choice & 2 == 0 ? 3 : 1024
    group = PeerGroup(
      as: PeerID(high: 4, low: 0), options, generator: SeededGenerator(seed: UInt64(choice)))
  }

  /// One of eight peers, four of which have lower ids than this side; peer 4 has the same id.
  private func peer(_ choice: UInt8) -> PeerID { PeerID(high: UInt64(choice % 9), low: 0) }
  private func connection(_ choice: UInt8) -> ConnectionID { ConnectionID(UInt64(choice % 16)) }

  mutating func step(_ script: inout FuzzScript) {
    let kind = script.next()
    now = now + .milliseconds(Int(script.next()) * 20)
    let (peer, connection) = (peer(script.next()), connection(script.next()))
    switch kind % 12 {
    case 0: group.handleFound(peer, at: now)
    case 1: group.handleLost(peer, at: now)
    case 2: group.handleRequest(connection, from: peer, at: now)
    case 3:
      guard open.insert(connection).inserted else { return }
      group.handleOpened(connection, peer, isIncoming: kind & 16 == 0, at: now)
    case 4: group.handleDialFailed(peer, kind & 16 == 0 ? .timedOut : .full, at: now)
    case 5:
      guard open.remove(connection) != nil else { return }
      group.handleClosed(connection, kind & 16 == 0 ? .left : .timedOut, at: now)
    case 6, 7:
      let bytes = script.read(Int(script.next() % 32))
      group.receive(bytes.span, on: connection, at: now)
    case 8: group.handleTimeout(at: now)
    case 9: _ = group.invite(peer, context: [kind], timeout: .seconds(5), at: now)
    case 10:
      guard let invitation = invitations.popLast() else { return }
      _ = group.answer(
        invitation.peer, number: invitation.number, accepting: kind & 16 == 0, at: now)
    default: group.disconnect(peer, Goodbye(.left), at: now)
    }
  }

  mutating func drain() {
    while let output = group.pollOutput() {
      switch output {
      case .close(let connection, _, _): open.remove(connection)
      case .joined(let peer, let connection):
        precondition(joined.updateValue(connection, forKey: peer) == nil, "joined twice")
      case .left(let peer, _):
        precondition(joined.removeValue(forKey: peer) != nil, "left without having joined")
      case .invited(let peer, let number, let context):
        precondition(context.count <= InvitationRequest.maximumContextLength)
        invitations.append((peer, number))
      case .dial, .cancelDial, .admit, .send, .withdrawn, .ended: break
      }
    }
    precondition(group.members.count == joined.count)
    if let due = group.nextTimeout, due <= now { group.handleTimeout(at: now) }
  }
}
