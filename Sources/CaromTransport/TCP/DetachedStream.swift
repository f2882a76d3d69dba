import CUVLoop
import CaromCore

/// A TCP connection that was detached from one loop and can be attached to another. Releasing it
/// closes the connection.
public final class DetachedStream: Sendable {
  /// The peer's address and port.
  public let peer: Endpoint
  private let descriptor: Locked<Int32?>

  /// The frames of the WebSocket that carries the stream's bytes; nil if there is none.
  let webSocket: WebSocketFrames?

  /// The TLS that carries the stream's bytes or its WebSocket; nil if there is none.
  let tls: TLSSession?

  init(
    _ descriptor: Int32, _ webSocket: WebSocketFrames?, _ tls: TLSSession?, peer: Endpoint
  ) {
    self.peer = peer
    self.tls = tls
    self.webSocket = webSocket
    self.descriptor = Locked(descriptor)
  }

  deinit { if let descriptor = removeDescriptor() { cuv_descriptor_close(descriptor) } }

  func removeDescriptor() -> Int32? { descriptor.withLock { $0.take() } }
}
