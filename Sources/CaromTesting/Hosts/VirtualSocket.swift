/// A datagram socket of a virtual host.
public struct VirtualSocket: Hashable, Sendable {
  /// Whose it is.
  public let host: VirtualHost.ID
  /// Counts from 0 over the whole network.
  public let number: Int
}

/// One end of a byte stream between two virtual hosts.
public struct VirtualStream: Hashable, Sendable {
  /// Which of the two ends.
  public enum Side: Int, Hashable, Sendable {
    /// The end that called.
    case caller = 0
    /// The end that listened.
    case listener = 1

    var other: Side { self == .caller ? .listener : .caller }
  }

  /// Whose end it is.
  public let host: VirtualHost.ID
  /// Counts from 0 over the whole network; both ends have the same.
  public let number: Int
  /// Which end.
  public let side: Side
}
