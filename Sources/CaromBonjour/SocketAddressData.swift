import CaromCore
import Foundation

/// An endpoint as the bytes of a `sockaddr_in` or `sockaddr_in6`, as `NetService.addresses` has
/// them.
enum SocketAddressData {
  static func make(_ endpoint: Endpoint) -> Data {
    var bytes: [UInt8] = []
    switch endpoint.address {
    case .v4:
      bytes += header(AF_INET, length: 16) + port(endpoint)
      bytes += endpoint.address.bytes + [UInt8](repeating: 0, count: 8)
    case .v6(_, _, let scope):
      bytes += header(AF_INET6, length: 28) + port(endpoint)
      bytes += [0, 0, 0, 0] + endpoint.address.bytes + native(scope)
    }
    return Data(bytes)
  }

  private static func header(_ family: Int32, length: UInt8) -> [UInt8] {
    #if canImport(Darwin)
      [length, UInt8(family)]
    #else
      native(UInt16(family))
    #endif
  }

  private static func port(_ endpoint: Endpoint) -> [UInt8] {
    [UInt8(endpoint.port >> 8), UInt8(endpoint.port & 0xFF)]
  }

  /// The bytes of a number in the order of this machine.
  private static func native<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
    let bytes = (0..<Value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    return Value(1).littleEndian == 1 ? bytes : bytes.reversed()
  }
}
