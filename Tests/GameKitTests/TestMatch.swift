import Foundation
import Synchronization
import TestEvents
import Testing

@testable import GameKit

/// A player of a test, with a matchmaker of its own.
struct TestPlayer: Sendable {
  let player: GKLocalPlayer
  let matchmaker: GKMatchmaker

  init(_ player: GKLocalPlayer) {
    self.player = player
    matchmaker = GKMatchmaker(player)
  }

  /// Finds a match, and notes how many players are expected when the handler is called.
  func findMatch(_ request: GKMatchRequest) async throws -> TestMatch {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        matchmaker.findMatch(for: request) { match, error in
          guard let match else { return continuation.resume(throwing: error ?? GKError(.unknown)) }
          continuation.resume(returning: TestMatch(match, match.expectedPlayerCount))
        }
      }
    } onCancel: {
      matchmaker.cancel()
    }
  }
}

/// A match whose delegate calls are recorded.
final class TestMatch: NSObject, GKMatchDelegate, Sendable {
  enum Event: Hashable, Sendable {
    case state(String, GKPlayerConnectionState)
    case data(Data, from: String)
    case failed(GKError.Code?)
    /// No player is expected any more.
    case full
  }

  let match: GKMatch
  let log = EventLog<Event>()
  let invitesAgain = Mutex(false)
  let expectedAtFirst: Int

  init(_ match: GKMatch, _ expectedAtFirst: Int = 0) {
    self.match = match
    self.expectedAtFirst = expectedAtFirst
    super.init()
    match.delegate = self
  }

  /// Waits until all players have connected.
  func waitUntilFull() async { await log.wait { $0 == .full } }

  func match(_ match: GKMatch, player: GKPlayer, didChange state: GKPlayerConnectionState) {
    log.add(.state(player.gamePlayerID, state))
    if match.expectedPlayerCount == 0, state == .connected { log.add(.full) }
  }

  func match(_ match: GKMatch, didReceive data: Data, fromRemotePlayer player: GKPlayer) {
    log.add(.data(data, from: player.gamePlayerID))
  }

  func match(_ match: GKMatch, didFailWithError error: (any Error)?) {
    log.add(.failed((error as? GKError)?.code))
  }

  func match(_ match: GKMatch, shouldReinviteDisconnectedPlayer player: GKPlayer) -> Bool {
    invitesAgain.withLock { $0 }
  }
}
