import CaromCore

/// How good a peer's connections to the others are, which tells how good a host it would be.
public struct HostQuality: Hashable, Sendable {
  /// The longest round-trip time to another peer, in milliseconds.
  public var roundTrip: UInt32
  /// The highest fraction of lost datagrams to another peer, in thousandths.
  public var loss: UInt16
  /// The lowest bandwidth to another peer, in kilobytes per second; 0 if it is unknown.
  public var bandwidth: UInt32

  /// Creates a quality from its three measurements.
  public init(roundTrip: UInt32, loss: UInt16, bandwidth: UInt32) {
    self.roundTrip = roundTrip
    self.loss = loss
    self.bandwidth = bandwidth
  }

  /// How long a state of a few kilobytes takes to the slowest peer, in milliseconds, with what
  /// losses delay: lower is better.
  public var cost: Double {
    let transfer = bandwidth == 0 ? 0 : 4000 / Double(bandwidth)
    return (Double(roundTrip) + transfer) * (1 + Double(loss) / 100)
  }
}

extension HostQuality: PacketCodable {
  /// Appends the round-trip time, the loss and the bandwidth (each `VarInt`).
  public func encode(into writer: inout PacketWriter) {
    writer.writeVarInt(UInt64(roundTrip))
    writer.writeVarInt(UInt64(loss))
    writer.writeVarInt(UInt64(bandwidth))
  }

  /// Reads a quality. Throws `invalid` if a number is out of its range.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    guard let roundTrip = UInt32(exactly: try reader.readVarInt()),
      let loss = UInt16(exactly: try reader.readVarInt()), loss <= 1000,
      let bandwidth = UInt32(exactly: try reader.readVarInt())
    else { throw .invalid(what: "quality of a host") }
    self.init(roundTrip: roundTrip, loss: loss, bandwidth: bandwidth)
  }
}
