import Carom

extension MessageChannel<String> { static var chat: Self { .init(0, .reliableOrdered) } }

func hostChat(as me: PeerInfo, interfaces: InterfaceSelection, on loop: NetworkLoop) async throws {
  let room = AdvertisedService(name: me.name, type: "_chat._tcp", port: 0)
  try await Session.host(room, as: me, interfaces: interfaces, seats: 8, loop: loop) {
    session, room in
    for await line in session.messages(on: .chat) {
      let text = "\(line.peer.name) in \(room.name): \(line.message)"
      try await session.broadcast(text, on: .chat)
    }
  }
}
