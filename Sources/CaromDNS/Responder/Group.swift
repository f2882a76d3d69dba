import CaromCore

/// The groups and the port of multicast DNS (RFC 6762 §3).
package enum Group {
  /// 5353, for both ends of every packet.
  package static let port: UInt16 = 5353
  /// 224.0.0.251:5353
  package static let v4 = Endpoint(.v4(0xE000_00FB), port: port)
  /// [ff02::fb]:5353, without scope.
  package static let v6 = Endpoint(.v6(high: 0xFF02 << 48, low: 0xFB, scope: 0), port: port)
}
