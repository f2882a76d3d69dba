import CaromCore
import Foundation
import Testing

@testable import CaromProtocol
@testable import CaromSession

/// Pages that do not read, because they are frozen or their network is slow.
@Suite(
  .timeLimit(.minutes(2)), .enabled(if: PythonBrowser.python != nil, "python3 is not on the PATH"))
struct UnreadPageTests {
  private static func makeState(_ number: Int, length: Int) -> Note {
    let padding = [UInt8](repeating: 7, count: length - 2)
    return Note([UInt8(number >> 8 & 255), UInt8(number & 255)] + padding)
  }

  private static func number(of state: Note) -> Int {
    Int(state.text[0]) << 8 | Int(state.text[1])
  }

  /// A state that does not fit into a packet may be sent in part when the system takes no more, as
  /// it may be while the page reads. Beside it, one state waits.
  @Test(arguments: [(length: 1_000, most: 1), (length: 32 << 10, most: 2)])
  func `an unread page costs its host one state, and gets the newest one when it reads on`(
    length: Int, most: Int
  ) async throws {
    let signal = FileManager.default.temporaryDirectory.appending(path: "read-on-\(UUID())")
    defer { try? FileManager.default.removeItem(at: signal) }
    try await Session.host(
      as: makePeer("host"), on: [.loopback4], over: .webSocket, seats: 1, security: .none,
      browsers: BrowserOptions(pages: [:])
    ) { session, port in
      async let end = PythonBrowser.run("web_echo.py", port: port, ["--unread", signal.path])
      var events = session.events.makeAsyncIterator()
      var joined: Peer?
      while joined == nil {
        if case .joined(let peer) = try #require(await events.next()) { joined = peer }
      }
      let page = try #require(joined)
      let node = session.node

      // The system's buffers are full when a state is replaced by the next one.
      var number = 0
      while await node.waiting(for: page).replaced == 0 {
        number += 1
        try await node.send(Self.makeState(number, length: length), on: .latest, to: page)
      }
      let limit = number + (8 << 20) / length
      var (states, bytes, written) = (0, 0, 0)
      while number < limit {
        number += 1
        try await node.send(Self.makeState(number, length: length), on: .latest, to: page)
        let waiting = await node.waiting(for: page)
        states = max(states, waiting.states)
        bytes = max(bytes, waiting.bytes)
        written = max(written, waiting.written)
      }
      #expect(states <= most && bytes <= most * length)
      #expect(written <= SessionLink.queueLimit)

      try Data().write(to: signal)
      var last = 0
      for await echo in session.messages(on: .latest) where echo.peer == page {
        last = Self.number(of: echo.message)
        if last == number { break }
      }
      #expect(last == number)
      await page.close(Goodbye(.finished))
      _ = try await end
    }
  }
}

extension SessionNode {
  /// Queues a state at the end of a turn of the loop.
  fileprivate func send(
    _ state: Note, on channel: MessageChannel<Note>, to peer: Peer
  ) throws(SendError) {
    try send(state, on: channel, to: peer.connectionID)
    flush()
  }

  /// What has not been passed to the system: the states that wait, their bytes, the bytes in the
  /// stream's queue; and the number of states that a newer one has replaced.
  fileprivate func waiting(
    for peer: Peer
  ) -> (states: Int, bytes: Int, written: Int, replaced: UInt64) {
    let written = sockets.streams[peer.connectionID]?.queuedBytes ?? 0
    guard let channels = lobby.host.connection(peer.connectionID)?.channels else {
      return (0, 0, written, 0)
    }
    let state = channels.sendState
    return (
      Int(state.unreliableCount), Int(state.unreliableBytes), written, channels.statistics.replaced
    )
  }
}
