import CaromCore

/// A program under test that runs on a host of a `VirtualNetwork`. It handles one event at a time,
/// and sends all its output before it returns.
public protocol VirtualNode {
  /// Starts the node, which binds its sockets and sends its first messages.
  mutating func start(in network: inout VirtualNetwork)

  /// Handles an event of the node's host. The current time is `network.now`.
  mutating func handle(_ event: VirtualEvent, in network: inout VirtualNetwork)

  /// Called when the time `nextTimeout` is reached.
  mutating func handleTimeout(in network: inout VirtualNetwork)

  /// The time of the next call of `handleTimeout`, or nil for none. Read after each call of the
  /// node's methods.
  var nextTimeout: Instant? { get }
}

extension VirtualNode {
  /// By default, a node does nothing at its start.
  public mutating func start(in network: inout VirtualNetwork) {}

  /// By default, a node ignores timeouts.
  public mutating func handleTimeout(in network: inout VirtualNetwork) {}

  /// By default, a node has no timeout.
  public var nextTimeout: Instant? { nil }
}
