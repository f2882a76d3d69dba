/// Functions that compute the lengths of packets on the wire, in bytes including headers.
enum WireLength {
  /// The maximum length, in bytes, of an unfragmented IP packet on a link without a `PathMTU`.
  static let maximumPacket = 1_500
  private static let udpHeader = 8
  private static let tcpHeader = 20
  private static let fragmentHeader = 8  // RFC 8200 §4.5

  private static func ipHeader(isV6: Bool) -> Int { isV6 ? 40 : 20 }

  /// Returns the length in bytes of the IP packet of an unfragmented datagram with `payload` bytes.
  static func packet(payload: Int, isV6: Bool) -> Int {
    ipHeader(isV6: isV6) + udpHeader + payload
  }

  /// Returns the number of IP packets that carry a datagram with `payload` bytes.
  static func fragments(payload: Int, isV6: Bool) -> Int {
    let header = ipHeader(isV6: isV6)
    let length = udpHeader + payload
    if header + length <= maximumPacket { return 1 }
    // Fragment lengths are multiples of eight.
    let room = (maximumPacket - header - (isV6 ? fragmentHeader : 0)) & ~7
    return (length + room - 1) / room
  }

  /// Returns the total length in bytes of all IP packets of a datagram with `payload` bytes.
  static func datagram(payload: Int, isV6: Bool) -> Int {
    let count = fragments(payload: payload, isV6: isV6)
    let header = ipHeader(isV6: isV6) + (isV6 && count > 1 ? fragmentHeader : 0)
    return udpHeader + payload + count * header
  }

  /// Returns the total length in bytes of all IP packets of a stream chunk with `payload` bytes. A
  /// chunk without bytes, such as a TCP SYN, consists of headers only.
  static func segments(payload: Int, isV6: Bool) -> Int {
    let header = ipHeader(isV6: isV6) + tcpHeader
    let room = maximumPacket - header
    return payload + max(1, (payload + room - 1) / room) * header
  }
}
