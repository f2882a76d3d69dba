import Carom

extension MessageChannel<String> { static var chat: Self { .init(0, .reliableOrdered) } }

func hostChat(as me: PeerInfo, interfaces: InterfaceSelection, on loop: NetworkLoop) async throws {
  let room = AdvertisedService(name: me.name, type: "_chat._tcp", port: 0)
  try await Session.host(room, as: me, interfaces: interfaces, seats: 8, loop: loop) {
    session, room in
    print("hosting \(room.name)")
    for await line in session.messages(on: .chat) {
      try await session.broadcast("\(line.peer.name): \(line.message)", on: .chat)
    }
  }
}

func joinChat(as me: PeerInfo, interfaces: InterfaceSelection, on loop: NetworkLoop) async throws {
  let browser = ServiceBrowser(for: "_chat._tcp", interfaces: interfaces, on: loop)
  for try await change in browser.changes {
    guard case .added(let room) = change else { continue }
    try await Session.join(room, as: me, loop: loop) { session, host in
      try await host.send("hello", on: .chat)
      for await line in session.messages(on: .chat) {
        print(line.message)
        break  // leaves after the first line
      }
    }
    break
  }
}

func run(on loop: NetworkLoop) async throws {
  let arguments = CommandLine.arguments
  guard arguments.count >= 3 else { return print("usage: chat host|join NAME [INTERFACE...]") }
  let me = PeerInfo(name: PeerInfo.name(from: arguments[2]), application: "chat")
  let named = Array(arguments[3...])
  let interfaces = named.isEmpty ? InterfaceSelection.automatic : .named(named)
  if arguments[1] == "host" {
    try await hostChat(as: me, interfaces: interfaces, on: loop)
  } else {
    try await joinChat(as: me, interfaces: interfaces, on: loop)
  }
}

do {
  try await withNetworkLoop { loop in try await run(on: loop) }
} catch {
  print("chat: \(error)")
}
