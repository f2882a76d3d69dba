import CaromCore

/// An event that a `VirtualNetwork` reports to a host.
public enum VirtualEvent: Hashable, Sendable {
  /// A datagram arrived at a socket.
  case datagram(Datagram, on: VirtualSocket)
  /// A client connected to a port on which the host listens.
  case accepted(VirtualStream, from: Endpoint, port: UInt16)
  /// A connection that the host opened is established and can be written to.
  case connected(VirtualStream)
  /// A connection was refused, because no host listens on the port.
  case refused(VirtualStream)
  /// A connection attempt was not answered for 127 s, or a NAT forgot it.
  case timedOut(VirtualStream)
  /// The next bytes of a stream arrived. There is at least one byte.
  case bytes([UInt8], VirtualStream)
  /// The peer finished writing. The host may still write.
  case end(VirtualStream)
  /// The peer reset the stream. No further events follow for this stream.
  case reset(VirtualStream)
  /// All written bytes have left the sender, as requested by `notifyWhenDrained`.
  case drained(VirtualStream)

  /// The host that receives the event.
  public var host: VirtualHost.ID {
    switch self {
    case .datagram(_, let socket): socket.host
    case .accepted(let stream, _, _), .connected(let stream), .refused(let stream),
      .timedOut(let stream), .bytes(_, let stream), .end(let stream), .reset(let stream),
      .drained(let stream):
      stream.host
    }
  }
}

extension VirtualEvent: CustomStringConvertible {
  /// A one-line description of the event.
  public var description: String {
    switch self {
    case .datagram(let datagram, let socket):
      "\(socket.host): datagram of \(datagram.payload.count) from \(datagram.source) to "
        + "\(datagram.destination)"
    case .accepted(let stream, let from, let port):
      "\(stream.host): accepted stream \(stream.number) from \(from) on port \(port)"
    case .connected(let stream): "\(stream.host): connected stream \(stream.number)"
    case .refused(let stream): "\(stream.host): refused stream \(stream.number)"
    case .timedOut(let stream): "\(stream.host): timed out stream \(stream.number)"
    case .bytes(let bytes, let stream):
      "\(stream.host): \(bytes.count) bytes on stream \(stream.number)"
    case .end(let stream): "\(stream.host): end of stream \(stream.number)"
    case .reset(let stream): "\(stream.host): reset of stream \(stream.number)"
    case .drained(let stream): "\(stream.host): drained stream \(stream.number)"
    }
  }
}
