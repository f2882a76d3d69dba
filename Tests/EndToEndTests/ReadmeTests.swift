import Carom
import Foundation
import Testing

@Suite(.turns) struct ReadmeTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  @Test func `the example in the README is compiled here`() throws {
    let readme = try String(contentsOf: Self.root.appending(path: "README.md"), encoding: .utf8)
    let example = try String(
      contentsOf: Self.root.appending(path: "Tests/EndToEndTests/ReadmeExample.swift"),
      encoding: .utf8)
    #expect(readme.contains("```swift\n\(example)```"))
    #expect(example.split(separator: "\n", omittingEmptySubsequences: false).count <= 16)
  }

  @Test
  func
    `the tug of war on the rollback page is compiled here and can be played`()
    throws
  {
    let page = try String(
      contentsOf: Self.root.appending(path: "Sources/Carom/Carom.docc/Rollback.md"),
      encoding: .utf8)
    let example = try String(
      contentsOf: Self.root.appending(path: "Tests/EndToEndTests/RollbackExample.swift"),
      encoding: .utf8)
    #expect(page.contains("```swift\n\(example)```"))
    var server = RollbackServer(TugOfWar(), players: 2, at: .zero)
    let id = server.addPlayer(1)
    var client = RollbackClient<TugOfWar>(player: 1, at: .zero)
    var now = Instant.zero
    var received: [RollbackEvent<TugOfWar.Event>] = []
    for _ in 0..<400 {
      now = now + .milliseconds(17)
      server.setInput(TugOfWar.Pull(3), for: 0)
      for _ in 0..<server.takeDueTicks(at: now) { server.advance() }
      while let (_, packet) = server.pollPacket() { try client.receive(packet, at: now) }
      for _ in 0..<client.takeDueTicks(at: now) { client.advance(with: TugOfWar.Pull(8)) }
      while let packet = client.pollPacket() { try server.receive(packet, from: id, at: now) }
      while let event = client.pollEvent() { received.append(event) }
    }
    #expect(received.contains { if case .confirmed(.won(1), _) = $0 { true } else { false } })
    #expect(server.state.rope >= 1_000 && client.state == server.state)
  }

  @Test func `the chat in the README can be found and joined, and answers`() async throws {
    try await withNetworkLoop { loop in
      let interfaces = InterfaceSelection.named(["lo"])
      let host = Task {
        try await hostChat(as: makePeer("Lobby"), interfaces: interfaces, on: loop)
      }
      let browser = ServiceBrowser(for: "_chat._tcp", interfaces: interfaces, on: loop)
      for try await change in browser.changes {
        guard case .added(let service) = change, service.name.hasPrefix("Lobby") else { continue }
        let resolved = try await service.resolve(within: .seconds(5))
        let answer = try await Session.join(
          resolved.endpoints, as: makePeer("Leo"), loop: loop
        ) { session, host in
          try await host.send("hello", on: .chat)
          for await received in session.messages(on: .chat) { return received.message }
          return ""
        }
        #expect(answer == "Leo in \(service.name): hello")
        break
      }
      host.cancel()
      _ = try await host.value
    }
  }

  private func makePeer(_ name: String) -> PeerInfo {
    PeerInfo(id: .random(), name: name, application: "chat")
  }
}
