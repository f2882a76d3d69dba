import CaromCore
import CaromTransport

/// A share in the engine of one own id. The engine ends when the last share is released.
final class EngineHandle: Sendable {
  private struct WeakHandle: Sendable {
    weak var handle: EngineHandle?
  }

  private struct Registry: Sendable {
    var loop: NetworkLoop?
    var handles: [PeerID: WeakHandle] = [:]
  }

  private static let registry = Locked(Registry())

  let engine: PeerEngine

  private init(_ engine: PeerEngine) { self.engine = engine }

  deinit {
    let engine = engine
    engine.post { $0.stop() }
  }

  /// Returns the handle of the engine of an own id, which is created on first use. All engines of
  /// the process share one network loop. Returns nil if `peer` is not an own id, or the loop cannot
  /// be created.
  static func shared(for peer: MCPeerID) -> EngineHandle? {
    guard let identity = peer.identity else { return nil }
    return registry.withLock { registry in
      if let handle = registry.handles[peer.id]?.handle { return handle }
      guard let loop = registry.loop ?? (try? NetworkLoop(name: "carom-multipeer")) else {
        return nil
      }
      registry.loop = loop
      registry.handles = registry.handles.filter { $0.value.handle != nil }
      let handle = EngineHandle(PeerEngine(peer, identity, on: loop))
      registry.handles[peer.id] = WeakHandle(handle: handle)
      return handle
    }
  }
}
