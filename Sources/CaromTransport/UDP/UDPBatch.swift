import CUVLoop
import CaromCore

/// The datagrams that one system call received, in the receive buffer. Valid only during the
/// callback.
@safe public struct UDPBatch: ~Escapable {
  private let datagrams: Span<cuv_datagram>

  @_lifetime(copy datagrams)
  init(_ datagrams: Span<cuv_datagram>) { unsafe self.datagrams = unsafe datagrams }

  /// The number of datagrams, 1 to 64.
  public var count: Int { unsafe datagrams.count }

  /// The indices of the datagrams, in order of arrival.
  public var indices: Range<Int> { unsafe datagrams.indices }

  /// The datagram at `index`.
  public subscript(index: Int) -> ReceivedDatagram {
    @_lifetime(copy self)
    get { unsafe ReceivedDatagram(datagrams[index], within: datagrams) }
  }
}
