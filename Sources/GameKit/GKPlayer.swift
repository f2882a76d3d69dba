import CaromTransport
import Foundation
import MultipeerConnectivity

/// A player of a match: a name, and an identifier that no other player can claim.
open class GKPlayer: NSObject,
  @unchecked Sendable  // the properties are constant
{
  let peerID: MCPeerID

  init(_ peerID: MCPeerID) { self.peerID = peerID }

  var key: String { GKSession.key(peerID) }

  /// The identifier, 16 hexadecimal digits. It is another one each time that the player's program
  /// starts.
  open var gamePlayerID: String { key }
  /// The same as `gamePlayerID`.
  open var teamPlayerID: String { key }
  /// The same as `gamePlayerID`.
  open var playerID: String { key }
  /// The name that the player has chosen.
  open var displayName: String { peerID.displayName }
  /// The same as `displayName`.
  open var alias: String { displayName }

  /// Whether the identifiers stay the same when a program starts again: false.
  open func scopedIDsArePersistent() -> Bool { false }

  /// Returns whether `object` is the same player.
  open override func isEqual(_ object: Any?) -> Bool { (object as? GKPlayer)?.peerID == peerID }
  /// A fixed function of the identifier.
  open override var hash: Int { peerID.hash }
  /// The class and the name.
  open override var description: String { "<GKPlayer: \(displayName), id = \(key)>" }
}

/// The player of this process.
///
/// Nobody signs in, because there are no accounts: the player is authenticated from the beginning.
open class GKLocalPlayer: GKPlayer,
  @unchecked Sendable  // what changes is locked
{
  private struct Handler: @unchecked Sendable {  // it is called on the main queue alone
    var body: ((Any?, (any Error)?) -> Void)?
  }

  private static let shared = GKLocalPlayer(MCPeerID(displayName: GameKitSettings.playerName ?? ""))

  private let handler = Locked(Handler())

  /// The player of this process, whose name is `GameKitSettings.playerName` at the first use.
  open class var local: GKLocalPlayer { shared }

  /// Whether the player can play: true.
  open var isAuthenticated: Bool { true }

  /// The handler that learns that the player is authenticated: it is called once, on the main
  /// queue, with nil for both the view controller and the error.
  open var authenticateHandler: ((Any?, (any Error)?) -> Void)? {
    get { handler.withLock { $0.body } }
    set {
      handler.withLock { $0.body = newValue }
      guard newValue != nil else { return }
      DispatchQueue.main.async { [self] in handler.withLock { $0.body }?(nil, nil) }
    }
  }
}

/// Settings of matches that Apple's framework takes from the application and its user's account.
public enum GameKitSettings {
  private struct Values: Sendable {
    var playerName: String?
    var gameIdentifier: String?
  }

  private static let values = Locked(Values())

  /// The name of this process's player, at most 63 bytes of UTF-8; nil for the name of this host.
  /// Set it before `GKLocalPlayer.local` is used for the first time.
  public static var playerName: String? {
    get { values.withLock { $0.playerName } }
    set { values.withLock { $0.playerName = newValue } }
  }

  /// What identifies the game: only players of the same one find each other. It is the name of the
  /// process unless it is set.
  public static var gameIdentifier: String {
    get { values.withLock { $0.gameIdentifier } ?? ProcessInfo.processInfo.processName }
    set { values.withLock { $0.gameIdentifier = newValue } }
  }
}
