import CaromCore

extension TCPStream {
  /// Whether the stream's bytes are carried by the binary messages of a WebSocket.
  public var isWebSocket: Bool { webSocket != nil }

  /// Makes the stream a WebSocket, of which this side is the server, after the opening handshake
  /// has been answered. From now on, bytes that are written leave as binary messages, and `bytes`
  /// events have the payload of the peer's binary messages. The end of the WebSocket is the event
  /// `end`.
  package func becomeWebSocket() throws(TransportError) {
    loop.preconditionCurrent("a stream")
    precondition(webSocket == nil, "the stream is a WebSocket already")
    webSocket = WebSocketLink(try WebSocketFrames(), of: core, through: tls, on: loop)
  }
}
