import Foundation

/// What a match knows of a player.
public enum GKPlayerConnectionState: Int, Sendable {
  /// Nothing is known.
  case unknown = 0
  /// The player is connected.
  case connected = 1
  /// The player was connected, and no longer is.
  case disconnected = 2
}

/// What a match reports, on one serial queue. All methods have default implementations.
///
/// Calls that are due before the delegate is set wait for it.
public protocol GKMatchDelegate: NSObjectProtocol {
  /// Data has arrived from a player.
  func match(_ match: GKMatch, didReceive data: Data, fromRemotePlayer player: GKPlayer)
  /// Data has arrived from a player for this one. The default implementation calls
  /// `match(_:didReceive:fromRemotePlayer:)`, which is not called otherwise.
  func match(
    _ match: GKMatch, didReceive data: Data, forRecipient recipient: GKPlayer,
    fromRemotePlayer player: GKPlayer)
  /// A player has connected, or has left. The match can begin when the `expectedPlayerCount` is 0.
  func match(_ match: GKMatch, player: GKPlayer, didChange state: GKPlayerConnectionState)
  /// The match cannot go on: the only other player was invited again, and has not come back.
  func match(_ match: GKMatch, didFailWithError error: (any Error)?)
  /// The only other player has left. Returns whether to invite that player back, who comes only if
  /// the delegate on that side returns true as well.
  func match(_ match: GKMatch, shouldReinviteDisconnectedPlayer player: GKPlayer) -> Bool
}

extension GKMatchDelegate {
  /// Does nothing.
  public func match(_ match: GKMatch, didReceive data: Data, fromRemotePlayer player: GKPlayer) {}
  /// Calls the method without a recipient.
  public func match(
    _ match: GKMatch, didReceive data: Data, forRecipient recipient: GKPlayer,
    fromRemotePlayer player: GKPlayer
  ) {
    self.match(match, didReceive: data, fromRemotePlayer: player)
  }
  /// Does nothing.
  public func match(
    _ match: GKMatch, player: GKPlayer, didChange state: GKPlayerConnectionState
  ) {}
  /// Does nothing.
  public func match(_ match: GKMatch, didFailWithError error: (any Error)?) {}
  /// Returns false.
  public func match(
    _ match: GKMatch, shouldReinviteDisconnectedPlayer player: GKPlayer
  ) -> Bool { false }
}
