import Carom

extension MessageChannel<String> { static var chat: Self { .init(0, .reliableOrdered) } }

func hostChat(as me: PeerInfo, interfaces: InterfaceSelection, on loop: NetworkLoop) async throws {
  try await Session.host(as: me, seats: 8, loop: loop) { session, port in
    let service = AdvertisedService(name: me.name, type: "_chat._tcp", port: port)
    try await ServiceAdvertiser(service, interfaces: interfaces, on: loop).run { visible in
      for await line in session.messages(on: .chat) {
        let text = "\(line.peer.name) in \(visible.name): \(line.message)"
        try await session.broadcast(text, on: .chat)
      }
    }
  }
}
