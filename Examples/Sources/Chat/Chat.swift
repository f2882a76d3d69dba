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

/// Finds the first room whose name begins with `room`, joins it, sends `line`, and returns the
/// first `count` lines that the room sends.
func chat(
  as me: PeerInfo, in room: String, sending line: String, until count: Int,
  interfaces: InterfaceSelection, on loop: NetworkLoop
) async throws -> [String] {
  let browser = ServiceBrowser(for: "_chat._tcp", interfaces: interfaces, on: loop)
  for try await change in browser.changes {
    guard case .added(let service) = change, service.name.hasPrefix(room) else { continue }
    let resolved = try await service.resolve(within: .seconds(5))
    return try await Session.join(resolved.endpoints, as: me, loop: loop) { session, host in
      try await host.send(line, on: .chat)
      var lines: [String] = []
      for await received in session.messages(on: .chat) {
        lines.append(received.message)
        if lines.count == count { break }
      }
      return lines
    }
  }
  return []
}

/// Hosts a room on the loopback interface; Leo joins it, and then Mia.
@main enum Chat {
  static func main() async throws {
    try await withNetworkLoop { loop in
      let interfaces = InterfaceSelection.named(["lo"])
      let room = AdvertisedService.uniqueName("Lobby")
      func makePeer(_ name: String) -> PeerInfo {
        PeerInfo(id: .random(), name: name, application: "chat")
      }
      let host = Task { try await hostChat(as: makePeer(room), interfaces: interfaces, on: loop) }
      for name in ["Leo", "Mia"] {
        let lines = try await chat(
          as: makePeer(name), in: room, sending: "hello", until: 1, interfaces: interfaces, on: loop
        )
        print(lines.joined(separator: "\n"))
        guard lines == ["\(name) in \(room): hello"] else { fatalError("unexpected: \(lines)") }
      }
      host.cancel()
      _ = await host.result
    }
  }
}
