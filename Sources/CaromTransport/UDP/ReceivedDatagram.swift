import CUVLoop
import CaromCore

/// A datagram in the receive buffer, with the metadata that the system reports. It is valid only
/// during the callback; `copy()` returns a value that outlives it.
@safe public struct ReceivedDatagram: ~Escapable {
  private let c: cuv_datagram

  @_lifetime(copy batch)
  init(_ c: cuv_datagram, within batch: Span<cuv_datagram>) { unsafe self.c = unsafe c }

  /// The bytes of the datagram.
  public var payload: Span<UInt8> {
    @_lifetime(copy self)
    get {
      let bytes = unsafe Span(_unsafeStart: c.bytes, count: Int(c.count))
      return unsafe _overrideLifetime(bytes, copying: self)
    }
  }

  /// The endpoint that sent the datagram.
  public var source: Endpoint { unsafe Endpoint(c.source) }
  /// The endpoint that the datagram was sent to; for multicast, the group.
  public var destination: Endpoint { unsafe Endpoint(c.destination) }
  /// The index of the interface that received the datagram; 0 if unknown.
  public var interface: UInt32 { unsafe c.interface }
  /// The IPv4 time to live or IPv6 hop limit on arrival; nil if unknown.
  public var hopLimit: UInt8? { unsafe UInt8(exactly: c.hop_limit) }
  /// Whether the datagram was longer than the socket's `largestDatagram`, so that its end is
  /// missing.
  public var isTruncated: Bool { unsafe c.truncated }

  /// Returns a copy of the datagram that outlives the callback.
  public func copy() -> Datagram {
    Datagram(
      Array(copying: payload), from: source, to: destination, interface: interface,
      hopLimit: hopLimit)
  }
}
