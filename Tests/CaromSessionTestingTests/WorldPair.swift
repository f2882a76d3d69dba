import CaromSessionTesting
import Foundation
import Testing

extension MessageChannel<String> {
  static var lines: Self { .init(0, .reliableOrdered) }
  static var positions: Self { .init(1, .unreliableSequenced) }
}

/// A host and a client of a world.
struct WorldPair {
  let world: SessionWorld
  let server: SessionWorld.Host
  let client: SessionWorld.Host

  init(in world: SessionWorld, profile: LinkProfile? = nil) {
    self.world = world
    server = world.addHost()
    client = world.addHost()
    if let profile { world.setProfile(profile, from: client, to: server) }
  }

  /// Joins the session that the server hosts on `port`. Retries as often as the worst network
  /// needs.
  func join<Result>(
    _ port: UInt16, over kinds: LinkKinds = .all, timing: SessionTiming = SessionTiming(),
    _ body: (Session, Peer) async throws -> Result
  ) async throws -> Result {
    try await Session.join(
      [Endpoint(server.v4, port: port)], as: .leo, over: kinds, timing: timing,
      retrying: RetryPolicy(attempts: 8), loop: client.loop, body)
  }
}

extension PeerInfo {
  static let maya = PeerInfo(id: PeerID(high: 1, low: 1), name: "Maya", application: "test")
  static let leo = PeerInfo(id: PeerID(high: 2, low: 2), name: "Leo", application: "test")
}

extension Session {
  /// Waits for the first event for which `isWanted` returns true.
  func event(where isWanted: (PeerEvent) -> Bool) async throws -> PeerEvent {
    for await event in events where isWanted(event) { return event }
    throw CancellationError()
  }

  /// Returns the next `count` messages of a channel.
  func take(_ count: Int, on channel: MessageChannel<String>) async -> [String] {
    var taken: [String] = []
    for await received in messages(on: channel) {
      taken.append(received.message)
      if taken.count == count { break }
    }
    return taken
  }

  /// Sends each line back to its sender until the task is cancelled.
  func echo() async throws {
    for await line in messages(on: .lines) { try await line.peer.send(line.message, on: .lines) }
  }
}

/// Runs `body` in a world with each profile and each seed.
func checkWorlds(
  _ count: Int = 2, limit: Duration = .seconds(600),
  _ body: @escaping @Sendable (WorldPair) async throws -> Void
) async throws {
  let environment = ProcessInfo.processInfo.environment
  let profiles = LinkProfile.all(named: environment["CAROM_PROFILE"])
  try await Seeds(count, replay: environment["CAROM_SEED"]).check(profiles) { profile, seed in
    try await SessionWorld.run(seed: seed, limit: limit) { world in
      try await body(WorldPair(in: world, profile: profile))
    }
  }
}
