import Carom
import CaromTransport
import Foundation

/// A flood of unsolicited records: one response each millisecond, with thirty records each.
struct DiscoveryFlood {
  private static let recordsInResponse = 30
  private static let group = Endpoint(.v4(0xE000_00FB), port: 5353)

  private let socket: UDPSocket

  /// Creates a flood and opens port 5353, which other sockets on the machine may also have open.
  init(on loop: NetworkLoop) throws {
    guard
      let interface = try Interfaces.list().first(where: {
        !$0.isLoopback && $0.isUp && $0.supportsMulticast
      })
    else { throw DiscoveryError.noMulticastInterface }
    var options = UDPOptions()
    options.reuseAddress = true
    options.reusePort = true
    socket = try UDPSocket(on: loop, bind: Endpoint(.v4(0), port: 5353), options: options) { _ in }
    try socket.setMulticastInterface(interface.index)
    try socket.setMulticastHopLimit(255)
  }

  /// Sends `count` records: TXT records with unrelated names, or fake services of the given type.
  func send(_ count: Int, fakesOf type: String? = nil) throws {
    for first in stride(from: 0, to: count, by: Self.recordsInResponse) {
      let numbers = first..<min(count, first + Self.recordsInResponse)
      var bytes: [UInt8] = [0, 0, 0x84, 0, 0, 0, 0, UInt8(numbers.count), 0, 0, 0, 0]
      for number in numbers {
        bytes += type.map { Self.fake(number, of: $0) } ?? Self.junk(number)
      }
      socket.send(bytes, to: Self.group)
      socket.flush()
      Thread.sleep(forTimeInterval: 0.001)
    }
    socket.close()
  }

  /// Returns a TXT record "junk" of "x7.local", with a time to live of 75 minutes.
  private static func junk(_ number: Int) -> [UInt8] {
    name("x\(number)", "local") + [0, 16, 0, 1] + [0, 0, 0x11, 0x94, 0, 5, 4] + Array("junk".utf8)
  }

  /// Returns a PTR record from "_type._udp.local" to "fake 7._type._udp.local", with a time to live
  /// of 75 minutes.
  private static func fake(_ number: Int, of type: String) -> [UInt8] {
    let parts = type.split(separator: ".").map(String.init) + ["local"]
    let owner = name(parts)
    let data = name(["fake \(number)"] + parts)
    return owner + [0, 12, 0, 1, 0, 0, 0x11, 0x94, 0, UInt8(data.count)] + data
  }

  private static func name(_ labels: String...) -> [UInt8] { name(labels) }

  private static func name(_ labels: [String]) -> [UInt8] {
    labels.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
  }
}
