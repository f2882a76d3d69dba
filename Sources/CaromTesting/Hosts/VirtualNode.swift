import CaromCore

/// A machine, or a stack of machines, as a host of a `VirtualNetwork` runs it: one event in, and
/// everything that it wants to send goes into the network before it returns.
public protocol VirtualNode {
  /// Begins: binds sockets, sends the first messages.
  mutating func start(in network: inout VirtualNetwork)

  /// Takes one event; the time is `network.now`.
  mutating func handle(_ event: VirtualEvent, in network: inout VirtualNetwork)

  /// The deadline that `nextTimeout` named has come.
  mutating func handleTimeout(in network: inout VirtualNetwork)

  /// When `handleTimeout` is wanted next; `nil` is never. Read after each call of the node.
  var nextTimeout: Instant? { get }
}

extension VirtualNode {
  /// Does nothing.
  public mutating func start(in network: inout VirtualNetwork) {}

  /// Does nothing.
  public mutating func handleTimeout(in network: inout VirtualNetwork) {}

  /// Never.
  public var nextTimeout: Instant? { nil }
}
