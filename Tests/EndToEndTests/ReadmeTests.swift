import Carom
import Foundation
import Testing

@Suite(.turns) struct ReadmeTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  @Test func `the README's example is the one that is compiled here`() throws {
    let readme = try String(contentsOf: Self.root.appending(path: "README.md"), encoding: .utf8)
    let example = try String(
      contentsOf: Self.root.appending(path: "Tests/EndToEndTests/ReadmeExample.swift"),
      encoding: .utf8)
    #expect(readme.contains("```swift\n\(example)```"))
    #expect(example.split(separator: "\n", omittingEmptySubsequences: false).count <= 16)
  }

  @Test func `the README's chat is found, joined, and answers`() async throws {
    try await withEventLoop { loop in
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
