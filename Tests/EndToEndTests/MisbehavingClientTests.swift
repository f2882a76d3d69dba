import Testing

/// Clients that leave without a goodbye, or violate the protocol.
@Suite(.turns) struct MisbehavingClientTests {
  enum Ending: String, CaseIterable, Sendable {
    case connectionLost, connectionReset, protocolViolation
  }

  @Test(arguments: Ending.allCases)
  func `a host reports once why its client left, and admits the next`(ending: Ending) async throws {
    let host = try RunningGame(
      [
        "host", "--unlisted", "--interface", "lo", "--bot", "--json", "--name", "Maya",
        "--reconnect", "0", "--security", "none",
      ])
    let line = try await host.line("port ")
    let port = try #require(line.split(separator: " ").last.flatMap { UInt16($0) })
    try await FakeClient.run(named: "Leo", at: port) { client in
      try await host.line("Leo sits down")
      switch ending {
      case .connectionLost: await client.hangUp()
      case .connectionReset: await client.reset()
      case .protocolViolation: try await client.violateProtocol()
      }
      try await host.line("match ended: \(ending.rawValue)")
    }
    try await FakeClient.run(named: "Zoe", at: port) { _ in try await host.line("Zoe sits down") }
    try await host.line("match ended: ", 2)
    await host.process.end()
    #expect(await host.ends.count == 2)
  }
}
