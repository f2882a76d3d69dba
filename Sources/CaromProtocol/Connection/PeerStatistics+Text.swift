import CaromCore

extension PeerStatistics: CustomStringConvertible {
  /// The measurements as a line for logs: "udp, anyone, XX, AESGCM, 12.3 ms, 0.4 % lost, 1250 kB/s,
  /// 0 bytes queued". What was not measured is left out.
  public var description: String {
    var parts = [link?.description ?? "no link", protection.description]
    if let roundTrip {
      parts.append("\(Self.tenths(roundTrip.wholeNanoseconds / 100_000)) ms")
    }
    if packetsSent > 0 { parts.append("\(Self.tenths(Int64(lossRate * 1000))) % lost") }
    if bandwidth > 0 { parts.append("\(Int64(bandwidth / 1000)) kB/s") }
    parts.append("\(bytesQueued) bytes queued")
    return parts.joined(separator: ", ")
  }

  /// A number of tenths, as a decimal number.
  private static func tenths(_ count: Int64) -> String { "\(count / 10).\(count % 10)" }
}
