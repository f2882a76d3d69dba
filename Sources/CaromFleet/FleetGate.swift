import CaromCore
import CaromPlacement
import CaromProtocol
import CaromSession
import CaromTransport

/// Decides who may join a session whose matches a fleet places: pass `admit` to `Session.host`,
/// which must accept connect tokens only.
///
/// A gate admits nobody until a `FleetMatches` has been made for it, because a host registers when
/// it knows its port.
package final class FleetGate: Sendable {
  private let opened = Locked<FleetMembership?>(nil)
  private let current = Locked<MatchID?>(nil)
  /// Whether the host runs one match at a time.
  package let takesOneMatch: Bool

  /// Creates a gate. If `takesOneMatch`, players of other matches are declined while the host has
  /// one.
  package init(takesOneMatch: Bool = false) { self.takesOneMatch = takesOneMatch }

  func open(for membership: FleetMembership) { opened.withLock { $0 = membership } }

  /// The membership for which the gate is open; nil before that.
  var membership: FleetMembership? { opened.withLock { $0 } }

  /// The match that the host runs, if it runs one at a time.
  var match: MatchID? {
    get { current.withLock { $0 } }
    set { current.withLock { $0 = takesOneMatch ? newValue : nil } }
  }

  /// Returns the claim in a player's connect token, or nil if it has none.
  static func claim(of player: PeerInfo) -> MatchClaim? {
    try? MatchClaim(decoding: player.backendData.span)
  }

  /// Decides about a player. The answer needs no question to anybody. Must be called on the loop of
  /// the host's membership.
  package func admit(_ player: PeerInfo) -> Admission {
    guard let membership else {
      return .decline("this host has not joined its fleet yet: try again")
    }
    guard let claim = Self.claim(of: player) else {
      return .decline("the connect token is not for a match of a fleet")
    }
    if let match, match != claim.match { return .decline("another match is played here") }
    let id = player.id
    switch membership.assumeIsolated({ $0.admit(id, with: claim) }) {
    case .accepted:
      match = claim.match
      return .accept
    case .tryAgain: return .decline("the match may be elsewhere: ask the fleet")
    case .full: return .decline("every seat of this host is taken: ask the fleet")
    case .otherHost: return .decline("the connect token is for another host")
    }
  }
}
