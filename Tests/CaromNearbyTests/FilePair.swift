import CaromCore
import CaromNearby
import CaromProtocol
import CaromSession
import CaromTransport
import Foundation
import TestRelay
import Testing

/// A hosting session and a session that has joined it, over loopback, both of which can send and
/// receive files.
struct FilePair {
  /// The host's files, and its client as a peer.
  let hosting: SessionFiles
  let client: Peer
  /// The client's files, and its host as a peer.
  let visiting: SessionFiles
  let host: Peer

  /// Runs `body` with a connected pair.
  static func run(
    over kinds: LinkKinds = .all, _ body: (FilePair) async throws -> Void
  ) async throws {
    try await withHost(over: kinds, SessionTiming()) { session, port, hosting in
      try await join(session, at: port, hosting, over: kinds, SessionTiming(), body)
    }
  }

  /// Runs `body` with a pair, and with the relay between them, which breaks the connection for good
  /// after it has carried `bytes` bytes. The host has a seat for another client.
  static func runBreaking(
    after bytes: Int, _ body: (FilePair, BreakingRelay) async throws -> Void
  ) async throws {
    // The goodbyes cannot be sent.
    var timing = SessionTiming()
    timing.closeLimit = .milliseconds(10)
    try await withHost(over: .stream, timing) { [timing] session, port, hosting in
      try await BreakingRelay.run(to: port, after: bytes, servesAfterwards: false) { relay, port in
        try await join(session, at: port, hosting, over: .stream, timing) { pair in
          try await body(pair, relay)
        }
      }
    }
  }

  /// What a client is called. Each session has an id of its own.
  static var clientInfo: PeerInfo {
    PeerInfo(id: PeerID(high: 2, low: 2), name: "Leo", application: "test")
  }

  private static func withHost(
    over kinds: LinkKinds, _ timing: SessionTiming,
    _ body: (Session, UInt16, SessionFiles) async throws -> Void
  ) async throws {
    try await withNetworkLoop { loop in
      try await Session.host(
        as: PeerInfo(id: PeerID(high: 1, low: 1), name: "Maya", application: "test"),
        on: [.loopback4], over: kinds, seats: 2, timing: timing, loop: loop
      ) { session, port in
        try await session.withFiles { hosting in try await body(session, port, hosting) }
      }
    }
  }

  private static func join(
    _ session: Session, at port: UInt16, _ hosting: SessionFiles, over kinds: LinkKinds,
    _ timing: SessionTiming, _ body: (FilePair) async throws -> Void
  ) async throws {
    try await Session.join(
      [Endpoint(.loopback4, port: port)], as: clientInfo, over: kinds, timing: timing,
      loop: session.loop
    ) { joined, host in
      try await joined.withFiles { visiting in
        let client = try #require(await session.firstPeer())
        try await body(FilePair(hosting: hosting, client: client, visiting: visiting, host: host))
      }
    }
  }

  /// The next file that the client offers to the host.
  func nextOffer() async -> IncomingOffer? {
    var offers = hosting.offers.makeAsyncIterator()
    return await offers.next()
  }
}

extension Session {
  /// Waits for the first peer.
  func firstPeer() async -> Peer? {
    for await event in events {
      if case .joined(let peer) = event { return peer }
    }
    return nil
  }
}

/// A temporary folder, which is removed when the value is released.
final class TemporaryFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "carom-\(UUID())")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// Creates a file and returns its path.
  func add(_ name: String, _ content: [UInt8]) throws -> String {
    let file = url.appending(path: name)
    try Data(content).write(to: file)
    return file.path()
  }

  /// Creates a file of `count` zero bytes, which takes no space on the disk, and returns its path.
  func addZeros(_ name: String, count: Int) throws -> String {
    let path = try add(name, [])
    try FileHandle(forWritingTo: URL(filePath: path)).truncate(atOffset: UInt64(count))
    return path
  }

  func content(of name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: url.appending(path: name)))
  }

  /// The names of all files, also hidden ones, in alphabetical order.
  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: url.path()).sorted() }
  }

  /// The names of the incomplete files and of their offers.
  var incomplete: [String] {
    get throws { try names.filter { $0.hasPrefix(".carom-") } }
  }
}

/// Returns `count` random bytes, which repeat after a length that divides no length of a message.
func randomBytes(_ count: Int, seed: UInt64 = 5) -> [UInt8] {
  var generator = SeededGenerator(seed: seed)
  let block = (0..<4_099).map { _ in UInt8.random(in: 0...255, using: &generator) }
  var bytes: [UInt8] = []
  while bytes.count < count { bytes += block }
  return Array(bytes[..<count])
}
