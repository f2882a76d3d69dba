import CaromCore
import CaromProtocol
import CaromSession
import CaromTransport
import Testing

/// A hosting session and a session that has joined it, over loopback.
struct SessionPair {
  let loop: NetworkLoop
  let hosting: Session
  let visiting: Session
  /// The host, as a peer of the client.
  let host: Peer
  /// The client, as a peer of the host.
  let client: Peer
  let endpoints: [Endpoint]
}

/// Runs `body` with a connected pair.
func withPair(
  over kinds: LinkKinds = .all, seats: Int = 1, spectatorSeats: Int = 0,
  timing: SessionTiming = SessionTiming(),
  _ body: (SessionPair) async throws -> Void
) async throws {
  try await withNetworkLoop { loop in
    try await Session.host(
      as: makePeer("host"), on: [.loopback4], over: kinds, seats: seats,
      spectatorSeats: spectatorSeats, timing: timing, loop: loop
    ) { hosting, port in
      let endpoints = [Endpoint(.loopback4, port: port)]
      try await Session.join(
        endpoints, as: makePeer("client"), over: kinds, timing: timing, loop: loop
      ) { visiting, host in
        let client = await hosting.joined()
        try await body(
          SessionPair(
            loop: loop, hosting: hosting, visiting: visiting, host: host, client: client,
            endpoints: endpoints))
      }
    }
  }
}

extension SessionTiming {
  /// Closing takes at most 20 ms, whatever waits to be sent.
  static var closingSoon: SessionTiming {
    var timing = SessionTiming()
    timing.closeLimit = .milliseconds(20)
    return timing
  }

  /// A connection that has lost its links is closed at once.
  static var withoutResuming: SessionTiming {
    var timing = SessionTiming()
    timing.resumeLimit = .zero
    return timing
  }

  /// There are no pings, so that a node sends nothing by itself. Closing takes at most 20 ms.
  static var withoutPings: SessionTiming {
    var timing = closingSoon
    timing.firstPings = 0
    timing.pingInterval = .seconds(3_600)
    timing.silenceLimit = .seconds(7_200)
    return timing
  }
}

extension SessionPair {
  /// Sends notes to the host, which does not read them, until the send queue is full. Returns the
  /// number of notes.
  @discardableResult
  func fillNotes() async throws -> Int {
    let note = Note([UInt8](repeating: 1, count: 250_000))
    var count = 0
    while true {
      do throws(SendError) {
        try await host.trySend(note, on: .notes)
        count += 1
      } catch {
        guard case .queueFull = error else { throw error }
        return count
      }
    }
  }
}

extension Session {
  /// Waits for the next peer that joins.
  func joined() async -> Peer {
    for await event in events {
      if case .joined(let peer) = event { return peer }
    }
    fatalError("the session ended before a peer joined")
  }

  /// Waits for the next peer that leaves, and returns the reason.
  func ending() async -> DisconnectReason? {
    for await event in events {
      if case .left(_, let reason) = event { return reason }
    }
    return nil
  }
}

extension Messages {
  /// Waits for the next `count` messages.
  func first(_ count: Int) async -> [Message] {
    var messages: [Message] = []
    guard count > 0 else { return messages }
    for await received in self {
      messages.append(received.message)
      if messages.count == count { break }
    }
    return messages
  }
}

extension NetworkLoop {
  /// Whether the loop still runs. On one that was shut down, even a sleep of no time throws.
  func isRunning() async -> Bool {
    do throws(TransportError) {
      try await sleep(until: .zero)
      return true
    } catch {
      return false
    }
  }
}

extension Bool {
  /// Records an issue if the value is false.
  func expectTrue(_ location: SourceLocation = #_sourceLocation) {
    #expect(self, sourceLocation: location)
  }
}

/// Waits between two polls for as long as a fast frame takes. A test that polled without a pause
/// would keep a core from the loops and tests that it waits for. Throws when the test is canceled
/// because its time limit was exceeded.
func nextFrame() async throws { try await Task.sleep(for: .milliseconds(1)) }
