import CaromCore

/// A program under test that runs on a host of a `VirtualNetwork`. A node handles one event at a
/// time, and sends all its output before it returns.
public protocol VirtualNode {
  /// Starts the node, which binds its sockets and sends its first messages.
  mutating func start(in network: inout VirtualNetwork)

  /// Handles an event of the node's host. The current time is `network.now`.
  mutating func handle(_ event: VirtualEvent, in network: inout VirtualNetwork)

  /// Handles a timeout. The world calls this method when the time `nextTimeout` has been reached.
  mutating func handleTimeout(in network: inout VirtualNetwork)

  /// The time of the next call to `handleTimeout`, or nil if the node has no timeout. The world
  /// reads this property after each call to one of the node's methods.
  var nextTimeout: Instant? { get }
}

extension VirtualNode {
  /// The default implementation does nothing.
  public mutating func start(in network: inout VirtualNetwork) {}

  /// The default implementation does nothing.
  public mutating func handleTimeout(in network: inout VirtualNetwork) {}

  /// The default value, nil: the node has no timeout.
  public var nextTimeout: Instant? { nil }
}
