import CUVLoop
import CaromCore

/// A TCP connection on its way from one loop to another; dropped on the way, it is closed.
public final class DetachedStream: Sendable {
  /// The peer's end.
  public let peer: Endpoint
  private let descriptor: Locked<Int32?>

  init(_ descriptor: Int32, peer: Endpoint) {
    self.peer = peer
    self.descriptor = Locked(descriptor)
  }

  deinit { if let descriptor = take() { cuv_descriptor_close(descriptor) } }

  func take() -> Int32? { descriptor.withLock { $0.take() } }
}
