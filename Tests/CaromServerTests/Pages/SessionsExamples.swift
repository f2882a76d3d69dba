import Carom

// The examples of the page Sessions. Each is repeated there.

private func hosting(as me: PeerInfo, on loop: NetworkLoop) async throws {
  try await Session.host(
    as: me, port: 7777, seats: 8, spectatorSeats: 100, loop: loop,
    admit: { $0.name.isEmpty ? .decline("Please set a name.") : .accept }
  ) { session, port in
    for await event in session.events {
      switch event {
      case .joined(let peer): print("\(peer.name) joined")
      case .interrupted(let peer): print("\(peer.name) has lost the connection")
      case .resumed(let peer): print("\(peer.name) is back")
      case .left(let peer, let reason): print("\(peer.name) left: \(reason)")
      default: break
      }
    }
  }
}

private func describing() -> PeerInfo {
  let me = PeerInfo(name: "Maya", application: "chat", applicationVersion: 2)
  return me
}

private func joining(as me: PeerInfo, on loop: NetworkLoop) async throws {
  try await Session.join(
    host: "game.example.com", port: 7777, as: me, retrying: RetryPolicy(attempts: 5), loop: loop
  ) { session, host in
    try await host.send("hello", on: .chat)
    for await line in session.messages(on: .chat) { print(line.message) }
  }
}

extension MessageChannel<String> {
  static var chat: Self { .init(0, .reliableOrdered) }
  static var positions: Self { .init(1, .unreliableSequenced, priority: 1) }
}

private struct World {
  func apply(_ position: String, from peer: Peer) {}
}

private func severalLoops(_ world: World, as me: PeerInfo) async throws {
  try await Session.host(as: me, port: 7777, seats: 2000, loops: 4) { session, port in
    for await position in session.messages(on: .positions) {
      world.apply(position.message, from: position.peer)
    }
  }
}

private func throughProxy(
  proxies: [Endpoint], bytes: [UInt8], as me: PeerInfo, on loop: NetworkLoop
) async throws {
  try await Session.join(
    proxies, as: me, over: .datagram, routing: .bothWays(try .suffix(bytes)), loop: loop
  ) { session, host in
    for await line in session.messages(on: .chat) { print(line.message) }
  }
}

private func badNetwork(endpoint: Endpoint, as me: PeerInfo, on loop: NetworkLoop) async throws {
  try await Session.join([endpoint], as: me, conditions: .mobile, loop: loop) { session, host in
    for await line in session.messages(on: .chat) { print(line.message) }
  }
}

private func frameLoop(endpoint: Endpoint, as me: PeerInfo, in world: World) throws {
  let session = try SessionPoller.join([endpoint], as: me)
  // each frame:
  while let event = session.poll() {
    switch event {
    case .peer(.joined(let host)): print("playing with \(host.name)")
    case .peer(.left(_, let reason)): print("the match has ended: \(reason)")
    case .failed(let error): print("\(error)")
    default: break
    }
  }
  for position in session.takeMessages(on: .positions) {
    world.apply(position.message, from: position.peer)
  }
  _ = session.post("24 18", on: .positions)
  // at the end:
  session.close()
}

private func hostingWithCode(as me: PeerInfo, on loop: NetworkLoop) async throws {
  let code = JoinCode.random()
  print("join code \(code.text)")  // such as K7QM-2XRT
  try await Session.host(as: me, security: .code(code), loop: loop) { session, port in
    for await event in session.events { print(event) }
  }
}

private func withoutResuming(as me: PeerInfo, on loop: NetworkLoop) async throws {
  var timing = SessionTiming()
  timing.resumeLimit = .zero
  timing.silenceLimit = .seconds(3)
  try await Session.host(as: me, port: 7777, seats: 8, timing: timing, loop: loop) {
    session, port in
    for await event in session.events { print(event) }
  }
}

struct ChatLine: Codable { var author: String, text: String }

extension MessageChannel<ChatLine> { static var chatLines: Self { .init(2, .reliableOrdered) } }

struct Stroke: PacketCodable {
  var x: Double
  var buttons: [UInt8]

  func encode(into writer: inout PacketWriter) {
    writer.write(x)
    writer.writeArray(buttons)
  }

  init(decoding reader: inout PacketReader) throws(DecodeError) {
    x = try reader.read()
    buttons = try reader.readArray(limit: 16)
  }
}

struct Bid: Codable { var amount: Int }
struct Verdict: Codable { var isHighest: Bool }

extension Exchange<Bid, Verdict> { static var bids: Self { .init(9) } }

func answerBids(in session: Session) async {
  var highest = 0
  await session.respond(to: .bids) { peer, bid in
    defer { highest = max(highest, bid.amount) }
    return Verdict(isHighest: bid.amount > highest)
  }
}

func offer(_ amount: Int, to host: Peer) async throws -> Bool {
  try await host.request(Bid(amount: amount), over: .bids, within: .seconds(1)).isHighest
}

private func moving(_ player: Peer, to endpoint: Endpoint, with token: ConnectToken) async {
  await player.close(Goodbye(movedTo: NextHost(at: [endpoint], token: token)))
}

private struct Following {
  func play(_ session: Session, _ host: Peer) async throws {
    for await event in session.events {
      guard case .left(_, .moved(let next)) = event else { continue }
      return try await session.follow(to: next, play)
    }
  }
}
