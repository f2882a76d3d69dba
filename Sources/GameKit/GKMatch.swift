import CaromTransport
import Foundation
import MultipeerConnectivity

/// A match: players who are all connected with each other, and send each other data.
///
/// A `GKMatchmaker` makes matches. The match begins when `expectedPlayerCount` is 0. Nobody joins
/// later. It is left when `disconnect` is called, or the last reference to it is released.
open class GKMatch: NSObject,
  @unchecked Sendable  // the properties are constant, or locked
{
  /// How data is sent.
  public enum SendDataMode: Int, Sendable {
    /// All data arrives, in the order in which it was sent.
    case reliable = 0
    /// Data is sent once, and may be lost.
    case unreliable = 1
  }

  let core: MatchCore
  private let matchmaker: GKMatchmaker

  init(_ core: MatchCore, of matchmaker: GKMatchmaker) {
    self.core = core
    self.matchmaker = matchmaker
    super.init()
    core.owner = self
  }

  deinit { core.end() }

  /// The object that is told about players and what they send. It is not retained.
  open var delegate: (any GKMatchDelegate)? {
    get { core.calls.delegate as? any GKMatchDelegate }
    set { core.calls.delegate = newValue }
  }

  /// The players that are connected, in the order in which they connected, without this one.
  open var players: [GKPlayer] { core.players }

  /// The number of players that have yet to connect: the match can begin when it is 0.
  open var expectedPlayerCount: Int { core.expectedPlayerCount }

  /// Sends data to players, without waiting.
  ///
  /// Reliable data has at most 67,108,863 bytes, and unreliable data 65,535. Throws a `GKError`:
  /// `invalidParameter` if the data is too long, `invalidPlayer` if a player is not one of the
  /// match, and `matchNotConnected` if a player is not connected; the others get the data then.
  open func send(
    _ data: Data, to players: [GKPlayer], dataMode mode: GKMatch.SendDataMode
  ) throws {
    try core.send(data, to: players, mode)
  }

  /// Sends data to all connected players, as `send(_:to:dataMode:)` does. Does nothing if there are
  /// none.
  open func sendData(toAllPlayers data: Data, with mode: GKMatch.SendDataMode) throws {
    try core.send(data, to: core.players, mode)
  }

  /// Leaves the match. What was sent before is still delivered.
  open func disconnect() { core.end() }

  /// Finds the player whose slowest connection is the fastest, by round-trip time, loss and
  /// bandwidth, this player included. All who ask within ten seconds get the same answer.
  ///
  /// - Parameter completionHandler: Called on the queue of the delegate: with the player, or with
  ///   nil if no connection has been measured yet or the players do not answer in time.
  open func chooseBestHostingPlayer(completionHandler: @escaping (GKPlayer?) -> Void) {
    let handler = Handler(body: completionHandler)
    core.session.performOnDelegateQueue { [core] in
      core.findHost { key in
        handler.body(key == core.local.key ? core.local : key.flatMap { core.members[$0] })
      }
    }
  }

  /// Leaves this match, and begins another one once all of its players want the same.
  /// `GKMatchmaker.cancel()` ends the search.
  open func rematch(completionHandler: ((GKMatch?, (any Error)?) -> Void)? = nil) {
    core.end()
    let criteria = MatchSearch.Criteria(
      text: "rematch \(core.name)", counts: core.playerCount...core.playerCount,
      recipients: Set(core.members.keys))
    matchmaker.search(criteria, completionHandler)
  }

  private struct Handler: @unchecked Sendable {  // called on the delegate's queue alone
    let body: (GKPlayer?) -> Void
  }
}

extension GKMatch {
  /// Begins another match of the same players, as the method with a completion handler does.
  public func rematch() async throws -> GKMatch {
    try await withCheckedThrowingContinuation { continuation in
      rematch { match, error in
        if let match { return continuation.resume(returning: match) }
        continuation.resume(throwing: error ?? GKError(.unknown))
      }
    }
  }

  /// Finds the best host, as the method with a completion handler does.
  public func chooseBestHostingPlayer() async -> GKPlayer? {
    await withCheckedContinuation { continuation in
      chooseBestHostingPlayer { continuation.resume(returning: $0) }
    }
  }
}
