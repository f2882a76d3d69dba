import CaromCore
import CaromProtocol

// What spares a round trip where this side was a guest before.
extension SessionNode {
  /// The most hosts whose tokens it keeps; with more the oldest goes.
  private static let tokenLimit = 16

  /// What the hosts gave this node for the next time, the newest last, each until it is used.
  public var joinTokens: [JoinToken] { tokens }

  /// Keeps a token for the next time that its host is called, in place of an older one.
  public func keep(_ token: JoinToken) {
    tokens.removeAll { $0.host == token.host }
    tokens.append(token)
    if tokens.count > Self.tokenLimit { tokens.removeFirst() }
  }

  /// The newest token of one of the hosts, which counts once.
  func takeToken(of hosts: [Endpoint]) -> JoinToken? {
    guard let index = tokens.lastIndex(where: { hosts.contains($0.host) }) else { return nil }
    return tokens.remove(at: index)
  }
}
