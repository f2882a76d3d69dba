import CUVLoop
import CaromCore

/// A datagram where it lies, and what the system knows of its way; `copy()` makes it last.
@safe public struct ReceivedDatagram: ~Escapable {
  private let c: cuv_datagram

  @_lifetime(copy batch)
  init(_ c: cuv_datagram, within batch: Span<cuv_datagram>) { unsafe self.c = unsafe c }

  /// The bytes that it carries.
  public var payload: Span<UInt8> {
    @_lifetime(copy self)
    get {
      let bytes = unsafe Span(_unsafeStart: c.bytes, count: Int(c.count))
      return unsafe _overrideLifetime(bytes, copying: self)
    }
  }

  /// Who sent it.
  public var source: Endpoint { unsafe Endpoint(c.source) }
  /// Whom it was sent to: a group's address where it was multicast.
  public var destination: Endpoint { unsafe Endpoint(c.destination) }
  /// The index of the interface that it came in by; 0 where the system does not say.
  public var interface: UInt32 { unsafe c.interface }
  /// IPv4 time to live or IPv6 hop limit as it arrived; `nil` where the system does not say.
  public var hopLimit: UInt8? { unsafe UInt8(exactly: c.hop_limit) }
  /// Whether it was longer than the socket's `largestDatagram`, and its end is lost.
  public var isTruncated: Bool { unsafe c.truncated }

  /// The datagram as a value of its own.
  public func copy() -> Datagram {
    Datagram(
      Array(copying: payload), from: source, to: destination, interface: interface,
      hopLimit: hopLimit)
  }
}
