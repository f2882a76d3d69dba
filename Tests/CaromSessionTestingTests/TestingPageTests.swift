import CaromSessionTesting
import Foundation
import Testing

// The code between the two lines "// example" is repeated in Testing.md.

// example
/// The game's own code, which knows nothing of the test: a host that sends each line to everybody.
func hostChat(on loop: NetworkLoop, ready: (UInt16) async throws -> Void) async throws {
  let me = PeerInfo(id: PeerID(high: 1, low: 1), name: "Maya", application: "chat")
  try await Session.host(as: me, seats: 8, loop: loop) { session, port in
    async let _ = {
      for await line in session.messages(on: .chat) {
        try await session.broadcast(line.message, on: .chat)
      }
    }()
    try await ready(port)
  }
}

extension MessageChannel<String> { static var chat: Self { .init(0, .reliableOrdered) } }

@Test func `every line of the chat arrives in order, even after an outage`() async throws {
  let environment = ProcessInfo.processInfo.environment
  let profiles = LinkProfile.all(named: environment["CAROM_PROFILE"])
  try await Seeds(1, replay: environment["CAROM_SEED"]).check(profiles) { profile, seed in
    try await SessionWorld.run(seed: seed) { world in
      let (server, client) = (world.addHost(), world.addHost())
      world.setProfile(profile, from: client, to: server)
      try await hostChat(on: server.loop) { port in
        let leo = PeerInfo(id: PeerID(high: 2, low: 2), name: "Leo", application: "chat")
        try await Session.join(
          [Endpoint(server.v4, port: port)], as: leo, retrying: RetryPolicy(attempts: 8),
          loop: client.loop
        ) { session, host in
          for number in 0..<20 { try await host.send("\(number)", on: .chat) }
          world.withNetwork { $0.cut(client.host) }
          try await world.sleep(for: .seconds(2))
          world.withNetwork { $0.restore(client.host) }
          var expected = 0
          for await line in session.messages(on: .chat) {
            try #require(line.message == "\(expected)")
            expected += 1
            if expected == 20 { break }
          }
        }
      }
    }
  }
}
// example

@Test func `the example of a session in Testing.md is compiled here`() throws {
  let file = URL(filePath: #filePath)
  let code = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "// example\n")
  let top = file.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  let page = try String(
    contentsOf: top.appending(path: "Sources/Carom/Carom.docc/Testing.md"), encoding: .utf8)
  #expect(page.contains("```swift\n\(code[1])```"))
}
