import CaromCrypto
import CaromDNS
import Foundation
import Testing

/// Messages that dnspython has signed (`Tests/Fixtures/TSIG/make.py`), and what was signed.
enum SignedFixtures {
  /// The time of all signatures, in seconds since the beginning of 1970.
  static let time: UInt64 = 1_764_180_000
  static let key = makeKey(Array(0..<32))
  static let wrongKey = makeKey(Array(1..<33))
  static let zone: Name = "play.example"
  static let type: Name = "_game._udp.play.example"

  static func makeKey(_ secret: [UInt8], name: Name = "game-key") -> TransactionKey {
    TransactionKey(name: name, authenticate: HMACSHA256.authenticator(secret: secret))
  }

  static func instance() throws -> Name { try type.prefixed(by: "Ann's café. table 1") }

  /// Returns the bytes of the message with this name.
  static func message(_ name: String) throws -> [UInt8] {
    let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Fixtures/TSIG/messages.txt")
    let lines = try String(contentsOf: path, encoding: .utf8).split(separator: "\n")
    let line = try #require(lines.first { $0.hasPrefix("\(name) ") })
    var digits = line.dropFirst(name.count + 1)
    var bytes: [UInt8] = []
    while !digits.isEmpty {
      bytes.append(try #require(UInt8(digits.prefix(2), radix: 16)))
      digits = digits.dropFirst(2)
    }
    return bytes
  }

  /// The update in the message "claim".
  static func claim() throws -> DynamicUpdate {
    let instance = try instance()
    var update = DynamicUpdate(zone: zone)
    update.requireUnused(instance)
    update.add(type, .pointer(instance), timeToLive: 60)
    update.add(instance, try offer(), timeToLive: 60)
    let text: TXTRecord = ["txtvers": "1", "players": "2/4"]
    update.add(instance, .text(text.encoded), timeToLive: 60)
    update.add("ann.test", .address(.v4(0xC000_0209)), timeToLive: 60)
    return update
  }

  /// The update in the message "removal".
  static func removal() throws -> DynamicUpdate {
    let instance = try instance()
    var update = DynamicUpdate(zone: zone)
    update.requireOnly(instance, try offer())
    update.delete(type, .pointer(instance))
    update.deleteAll(under: instance)
    update.deleteAll(of: RecordKey("ann.test", .a))
    return update
  }

  private static func offer() throws -> RecordData {
    .service(priority: 0, weight: 0, port: 4242, target: "ann.test")
  }
}
