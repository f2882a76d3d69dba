import CaromProtocol

/// The kinds of links that a session offers and opens. If both kinds are used, UDP is preferred,
/// and TCP carries the session where UDP is blocked.
public struct LinkKinds: OptionSet, Hashable, Sendable {
  /// One bit for each kind of link.
  public let rawValue: UInt8

  /// Creates the set whose bits are `rawValue`.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Datagrams over UDP.
  public static let datagram = LinkKinds(rawValue: 1)
  /// A stream over TCP.
  public static let stream = LinkKinds(rawValue: 2)
  /// WebSockets on the TCP port of a host, for browsers, and the pages of `BrowserOptions`. Only a
  /// host can use them, and they are not part of `all`.
  public static let webSocket = LinkKinds(rawValue: 4)
  /// Both UDP and TCP.
  public static let all: LinkKinds = [.datagram, .stream]
}
