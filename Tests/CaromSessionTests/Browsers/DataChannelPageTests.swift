import CaromCore
import CaromProtocol
import CaromSession
import CaromTransport
import Foundation
import Testing

extension MessageChannel<UInt32> {
  fileprivate static var numbers: Self { .init(7, .reliableOrdered) }
}

extension MessageChannel<Note> {
  fileprivate static var commands: Self { .init(9, .reliableOrdered) }
}

/// Pages whose data channels are those of aiortc, an implementation of WebRTC that has nothing in
/// common with those of browsers.
@Suite(
  .timeLimit(.minutes(2)), .enabled(if: PythonBrowser.hasWebRTC, "python3-aiortc is not installed"))
struct DataChannelPageTests {
  private struct End: Codable {
    var violations: [String]
    var echoed: Int
    var opened: Int
    var longest: Int
    var links: [String]
    var reason: String?
  }

  /// Hosts a session that has data channels, runs a page, and passes the page to `body`. Returns
  /// what the page says at the end.
  private func withPage(
    _ body: (Session, Peer, inout PeerEvents.AsyncIterator) async throws -> Void
  ) async throws -> End {
    try await Session.host(
      as: makePeer("host"), on: [.loopback4], over: [.datagram, .stream, .webSocket], seats: 8,
      security: .none, browsers: BrowserOptions(pages: [:])
    ) { session, port in
      async let end = PythonBrowser.run("rtc_echo.py", port: port, python: PythonBrowser.system)
      var events = session.events.makeAsyncIterator()
      var page: Peer?
      while page == nil {
        if case .joined(let peer) = try #require(await events.next()) { page = peer }
      }
      try await body(session, try #require(page), &events)
      return try JSONDecoder().decode(End.self, from: await end)
    }
  }

  /// Waits until the messages of the page travel over a link of a kind.
  private func wait(
    for kind: LinkKind, in events: inout PeerEvents.AsyncIterator
  ) async throws {
    while let event = await events.next() {
      if case .linkChanged(_, kind) = event { return }
    }
    throw CancellationError()
  }

  /// Checks that the page returns as many numbers in their order.
  private func exchange(_ count: UInt32, with page: Peer, in session: Session) async throws {
    let back = session.messages(on: .numbers)
    for number in 0..<count { try await page.send(number, on: .numbers) }
    var due: UInt32 = 0
    for await received in back where received.peer == page {
      #expect(received.message == due)
      due += 1
      if due == count { break }
    }
  }

  private func command(_ text: String, _ page: Peer) async throws {
    try await page.send(Note(Array(text.utf8)), on: .commands)
  }

  @Test func `messages travel over a data channel while there is one, and over another later`()
    async throws
  {
    let end = try await withPage { session, page, events in
      try await wait(for: .dataChannel, in: &events)
      #expect(await page.linkKind == .dataChannel)
      #expect(await page.statistics?.link?.description == "webrtc")
      try await exchange(500, with: page, in: session)
      #expect(await page.linkKind == .dataChannel)

      try await command("close", page)
      try await wait(for: .webSocket, in: &events)
      try await exchange(100, with: page, in: session)
      #expect(await page.linkKind == .webSocket)

      try await command("open", page)
      try await wait(for: .dataChannel, in: &events)
      try await exchange(100, with: page, in: session)
      #expect(await page.linkKind == .dataChannel)
      await page.close(Goodbye(.finished))
    }
    #expect(end.violations == [] && end.reason == "finished")
    #expect(end.echoed == 700 && end.opened == 2)
    #expect(end.links == ["webrtc", "websocket"])
    #expect(end.longest <= 1_120)
  }

  @Test func `the web socket carries on where a data channel ends without a word`() async throws {
    let end = try await withPage { session, page, events in
      try await wait(for: .dataChannel, in: &events)
      try await exchange(50, with: page, in: session)
      try await command("vanish", page)
      // What was lost is sent again.
      try await exchange(200, with: page, in: session)
      #expect(await page.linkKind == .webSocket)
      await page.close(Goodbye(.finished))
    }
    #expect(end.violations == [] && end.reason == "finished")
    #expect(end.echoed == 250 && end.opened == 1)
  }

  @Test func `a host that leaves says so to a page on a data channel`() async throws {
    var result: Task<Data, any Error>?
    try await Session.host(
      as: makePeer("host"), on: [.loopback4], over: [.datagram, .stream, .webSocket], seats: 8,
      security: .none, browsers: BrowserOptions(pages: [:])
    ) { session, port in
      result = Task {
        try await PythonBrowser.run("rtc_echo.py", port: port, python: PythonBrowser.system)
      }
      var events = session.events.makeAsyncIterator()
      try await wait(for: .dataChannel, in: &events)
    }
    let page = try JSONDecoder().decode(End.self, from: try #require(await result?.value))
    #expect(page.violations == [] && page.opened == 1)
    #expect(page.reason == "finished")
  }
}
