/// How long things are on the wire, headers counted.
enum WireLength {
  /// The longest IP packet that goes in one piece where no `PathMTU` says otherwise, bytes.
  static let frame = 1_500
  private static let udpHeader = 8
  private static let tcpHeader = 20
  private static let fragmentHeader = 8  // RFC 8200 §4.5

  private static func ipHeader(isV6: Bool) -> Int { isV6 ? 40 : 20 }

  /// The IP packet of a datagram that is not fragmented.
  static func packet(payload: Int, isV6: Bool) -> Int {
    ipHeader(isV6: isV6) + udpHeader + payload
  }

  /// How many IP packets carry a datagram.
  static func fragments(payload: Int, isV6: Bool) -> Int {
    let header = ipHeader(isV6: isV6)
    let length = udpHeader + payload
    if header + length <= frame { return 1 }
    let room = (frame - header - (isV6 ? fragmentHeader : 0)) & ~7  // fragments count in eights
    return (length + room - 1) / room
  }

  /// All IP packets of a datagram.
  static func datagram(payload: Int, isV6: Bool) -> Int {
    let count = fragments(payload: payload, isV6: isV6)
    let header = ipHeader(isV6: isV6) + (isV6 && count > 1 ? fragmentHeader : 0)
    return udpHeader + payload + count * header
  }

  /// All IP packets of a piece of a stream; one without bytes is a bare header.
  static func segments(payload: Int, isV6: Bool) -> Int {
    let header = ipHeader(isV6: isV6) + tcpHeader
    let room = frame - header
    return payload + max(1, (payload + room - 1) / room) * header
  }
}
