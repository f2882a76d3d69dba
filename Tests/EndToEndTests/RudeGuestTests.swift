import Testing

/// Guests who leave without a goodbye, or break the protocol.
@Suite(.turns) struct RudeGuestTests {
  enum Manner: String, CaseIterable, Sendable {
    case connectionLost, connectionReset, protocolViolation
  }

  @Test(arguments: Manner.allCases)
  func `a host tells once why its guest is gone, and takes the next`(manner: Manner) async throws {
    let host = try RunningGame(
      ["host", "--unlisted", "--interface", "lo", "--bot", "--json", "--name", "Maya"])
    let visible = try await host.line("port ")
    let port = try #require(visible.split(separator: " ").last.flatMap { UInt16($0) })
    try await FakeGuest.run(named: "Leo", at: port) { guest in
      try await host.line("Leo sits down")
      switch manner {
      case .connectionLost: await guest.hangUp()
      case .connectionReset: await guest.reset()
      case .protocolViolation: try await guest.babble()
      }
      try await host.line("game ended: \(manner.rawValue)")
    }
    try await FakeGuest.run(named: "Zoe", at: port) { _ in try await host.line("Zoe sits down") }
    try await host.line("game ended: ", 2)
    await host.process.end()
    #expect(await host.ends.count == 2)
  }
}
