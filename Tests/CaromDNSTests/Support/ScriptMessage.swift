import CaromCore
import CaromDNS

/// Builds well-formed messages about the names that the script's node publishes and queries.
enum ScriptMessage {
  static let type: ServiceType = "_game._udp"

  private static let names: [Name] = [
    "_game._udp.local", instance("X"), instance("X (2)"), instance("Y"), "host.local",
    "host-2.local", "other.local", "_sub._sub._game._udp.local", "_services._dns-sd._udp.local",
    "b._dns-sd._udp.local", "1.0.0.10.in-addr.arpa", ".", "_other._tcp.local", "x.example.com",
  ]
  private static let types: [RecordType] = [.ptr, .srv, .txt, .a, .aaaa, .nsec, .any, .cname]
  private static let lives: [UInt32] = [0, 1, 10, 120, 4500, 60, 2, .max]

  private static func instance(_ label: String) -> Name {
    guard let name = try? type.name().prefixed(by: label) else {
      preconditionFailure("'\(label)' is not a valid label")
    }
    return name
  }

  static func name(_ code: UInt8) -> Name { names[Int(code) % names.count] }

  /// The next message that the bytes describe.
  static func make(_ bytes: inout ScriptBytes) -> [UInt8] {
    let head = bytes.next()
    var message = Message(id: UInt16(head & 8) << 4, isResponse: head & 1 != 0)
    message.isTruncated = head & 2 != 0
    for _ in 0..<((head >> 4) & 3) {
      let code = bytes.next()
      message.questions.append(
        Question(
          name(code), types[Int(bytes.next() & 7)], wantsUnicast: code & 0x40 != 0,
          questionClass: code & 0x80 != 0 ? Question.anyClass : Record.internet))
    }
    message.answers = records(Int(head >> 6), &bytes)
    if head & 4 != 0 {
      let counts = bytes.next()
      message.authorities = records(Int(counts & 3), &bytes)
      message.additionals = records(Int((counts >> 2) & 7), &bytes)
    }
    return message.encoded()
  }

  private static func records(_ count: Int, _ bytes: inout ScriptBytes) -> [Record] {
    (0..<count).map { _ in
      let owner = bytes.next()
      let kind = bytes.next()
      return Record(
        name(owner), data(kind, &bytes), timeToLive: lives[Int(kind >> 3) & 7],
        flushesCache: kind & 0x40 != 0, recordClass: kind & 0x80 != 0 && owner & 0x80 != 0 ? 3 : 1)
    }
  }

  private static func data(_ kind: UInt8, _ bytes: inout ScriptBytes) -> RecordData {
    let code = bytes.next()
    switch kind & 7 {
    case 0, 1: return .pointer(name(code))
    case 2:
      return .service(
        priority: UInt16(code >> 6), weight: UInt16(code >> 5) & 1,
        port: code & 16 == 0 ? 7777 : 80, target: name(code))
    case 3: return .text([2, 0x6B, code])
    case 4: return .address(.v4(0x0A00_0000 | UInt32(code & 3)))
    case 5: return .address(.v6(high: 0xFE80 << 48, low: UInt64(code & 3), scope: 0))
    case 6: return .types(next: name(code), code & 1 == 0 ? [.a] : [.txt, .srv])
    default: return .raw(RecordType(rawValue: UInt16(code)), bytes.read(Int(code & 15)))
    }
  }
}
