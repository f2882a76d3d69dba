import CaromCore
import CaromProtocol

// Join tokens, which save a round trip when this side joins a host again.
extension SessionNode {
  /// The maximum number of stored tokens. Beyond this number, the oldest token is dropped.
  private static let tokenLimit = 16

  /// Stores a token for the next connection to the token's host. An older token for that host is
  /// removed.
  public func store(_ token: JoinToken) {
    joinTokens.removeAll { $0.host == token.host }
    joinTokens.append(token)
    if joinTokens.count > Self.tokenLimit { joinTokens.removeFirst() }
  }

  /// Removes and returns the newest token for any of `hosts`, or nil if there is none. Each token
  /// can be used only once.
  func takeToken(of hosts: [Endpoint]) -> JoinToken? {
    guard let index = joinTokens.lastIndex(where: { hosts.contains($0.host) }) else { return nil }
    return joinTokens.remove(at: index)
  }
}
