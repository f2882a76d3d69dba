import CUVLoop
import CaromCore

/// Datagrams that arrived together, where the system put them: valid during the callback only.
@safe public struct UDPBatch: ~Escapable {
  private let datagrams: Span<cuv_datagram>

  @_lifetime(copy datagrams)
  init(_ datagrams: Span<cuv_datagram>) { unsafe self.datagrams = unsafe datagrams }

  /// How many there are, 1 to 64.
  public var count: Int { unsafe datagrams.count }

  /// The positions of the datagrams, in order of arrival.
  public var indices: Range<Int> { unsafe datagrams.indices }

  /// The datagram at `index`.
  public subscript(index: Int) -> ReceivedDatagram {
    @_lifetime(copy self)
    get { unsafe ReceivedDatagram(datagrams[index], within: datagrams) }
  }
}
