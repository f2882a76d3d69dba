import CaromCore
import CaromGroup
import CaromSession
import Dispatch

// For modules that make calls and connections of their own on top of a session.
extension MCSession {
  /// The queue of the delegate calls of this session, and of all advertisers and browsers with the
  /// same own id.
  package var delegateQueue: DispatchQueue { core.calls.queue }

  /// Calls `body` on the queue of the delegate calls.
  package func performOnDelegateQueue(_ body: @escaping @Sendable () -> Void) {
    core.calls.perform(body)
  }

  /// Disconnects one peer, after what was sent to it before.
  package func disconnect(_ peerID: MCPeerID) {
    let core = core
    core.handle?.engine.post { $0.disconnect(peerID.id, from: core) }
  }

  /// Measures how good a host this side would be. Calls `body` on the queue of the delegate calls
  /// with the time that a state takes to the slowest peer, in microseconds, or nil if no connection
  /// has been measured yet.
  package func measureHostCost(_ body: @escaping @Sendable (UInt32?) -> Void) {
    let core = core
    guard let engine = core.handle?.engine else { return core.calls.perform { body(nil) } }
    engine.post { _ in
      let quality = HostQuality(core.connections.compactMap { $0.peer.currentStatistics })
      let cost = quality.map { UInt32(min($0.cost * 1000, 4e9)) }
      core.calls.perform { body(cost) }
    }
  }
}
