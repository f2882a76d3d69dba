import Carom

// The examples of the page Moving. Each is repeated there.

func hostRoom(as me: PeerInfo, on loop: NetworkLoop) async throws {
  let service = AdvertisedService(name: me.name, type: "_chat._tcp", port: 0)
  try await Session.host(
    service, as: me, seats: 8, loop: loop,
    admit: { $0.name.isEmpty ? .decline("Please set a name.") : .accept }
  ) { session, _ in
    await session.observe { event in print(event) }  // joined, interrupted, resumed, left
    for await line in session.messages(on: .chat) {
      try await session.broadcast("\(line.peer.name): \(line.message)", on: .chat)
    }
  }
}

func joinRoom(named name: String, as me: PeerInfo, on loop: NetworkLoop) async throws {
  for try await change in ServiceBrowser(for: "_chat._tcp", on: loop).changes {
    guard case .added(let service) = change, service.name == name else { continue }
    return try await Session.join(service, as: me, loop: loop) { session, host in
      try await host.send("hello", on: .chat)
      for await line in session.messages(on: .chat) { print(line.message) }
    }
  }
}

func frame(_ session: Session, draw: (String) -> Void) {
  while let event = session.poll() { print(event) }
  for line in session.takeMessages(on: .chat) { draw(line.message) }
  let isAccepted = session.post("a line", on: .chat)
  if !isAccepted { draw("not sent") }
}
