import CaromProtocol

/// Which kinds of links a session offers and opens; with both, UDP is preferred, and TCP carries
/// the session where UDP is blocked.
public struct LinkKinds: OptionSet, Hashable, Sendable {
  /// One bit a kind.
  public let rawValue: UInt8

  /// The kinds of these bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// UDP.
  public static let datagram = LinkKinds(rawValue: 1)
  /// TCP.
  public static let stream = LinkKinds(rawValue: 2)
  /// Both.
  public static let all: LinkKinds = [.datagram, .stream]
}
