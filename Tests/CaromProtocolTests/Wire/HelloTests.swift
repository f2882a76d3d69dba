import CaromCore
import CaromTesting
import Testing

@testable import CaromProtocol

@Suite struct HelloTests {
  private let key = ConnectionKey(prefix: 0x0807_0605_0403_0201, rest: 0x100F_0E0D_0C0B_0A09)

  private func makeHello(cookie: UInt64 = 0, resumes: Bool = false) -> Hello {
    Hello(key: key, epoch: 0x0D0C_0B0A, resumes: resumes, cookie: Cookie(bits: cookie))
  }

  private func encode(_ hello: Hello) -> [UInt8] {
    var writer = FrameWriter(limit: 1500)
    hello.write(to: &writer)
    return writer.takeBytes()
  }

  /// The datagram and the number of bytes that remain after it.
  private func decode(_ bytes: [UInt8]) throws(DecodeError) -> (SessionDatagram, Int) {
    var reader = PacketReader(bytes.span)
    return (try SessionDatagram(decoding: &reader), reader.remaining)
  }

  private func error(of bytes: [UInt8]) -> DecodeError? {
    do {
      _ = try decode(bytes)
      return nil
    } catch { return error }
  }

  @Test func `a hello without a cookie is padded`() throws {
    let bytes = encode(makeHello())
    #expect(bytes.count == 1200)
    let head: [UInt8] =
      [0x80, 0x43, 0x52, 0x4D, 0x32, 2, 0] + Array(1...16) + [10, 11, 12, 13, 0]
    #expect(Array(bytes[..<28]) == head)
    #expect(bytes[28...].allSatisfy { $0 == 0 })
    let (datagram, rest) = try decode(bytes)
    #expect(datagram == .hello(makeHello()))
    #expect(rest == 0)
  }

  @Test func `a hello with a cookie carries a packet`() throws {
    let hello = makeHello(cookie: 0x0102, resumes: true)
    let bytes = encode(hello)
    #expect(bytes.count == Hello.length)
    #expect(Array(bytes[27...]) == [1, 2, 1, 0, 0, 0, 0, 0, 0])
    #expect(try decode(bytes) == (.hello(hello), 0))
    #expect(try decode(bytes + [0x10, 0, 0, 1]) == (.hello(hello), 4))
  }

  @Test func `a hello with a token carries a packet, and has 60 bytes before it`() throws {
    var hello = makeHello()
    hello.token = AddressToken(Array(101...124))
    let bytes = encode(hello)
    #expect(Array(bytes[27...]) == [2] + [UInt8](repeating: 0, count: 8) + Array(101...124))
    #expect(bytes.count == 60 && hello.length == 60)
    #expect(try decode(bytes) == (.hello(hello), 0))
    #expect(try decode(bytes + [0x10, 0, 0, 1]) == (.hello(hello), 4))
    var changed = bytes
    changed[27] = 3
    #expect(error(of: changed) == .invalid(what: "hello: flags"))
    changed = bytes
    changed[28] = 1
    #expect(error(of: changed) == .invalid(what: "hello: a cookie and a token"))
    for count in 36..<60 {
      guard case .truncated = error(of: Array(bytes[..<count])) else {
        Issue.record("\(count) bytes are no hello with a token")
        continue
      }
    }
  }

  @Test func `a hello with a ticket has no cookie and 1,200 bytes, whatever they are`() throws {
    var hello = makeHello()
    hello.isSealed = true
    hello.version = 3
    hello.hasTicket = true
    let bytes = encode(hello)
    #expect(Array(bytes[27...]) == [8] + [UInt8](repeating: 0, count: 8))
    let part: [UInt8] = [0x83] + [UInt8](repeating: 7, count: Hello.paddedLength - 37)
    #expect(try decode(bytes + part) == (.hello(hello), Hello.paddedLength - 36))
    #expect(error(of: bytes) == .invalid(what: "hello: length"))
    #expect(error(of: bytes + part.dropLast()) == .invalid(what: "hello: length"))
    var changed = bytes + part
    changed[28] = 1
    #expect(error(of: changed) == .invalid(what: "hello: a cookie and a ticket"))
    changed = bytes + part
    changed[27] = 12
    #expect(error(of: changed) == .invalid(what: "hello: a cookie and a ticket"))
    changed[27] = 9
    #expect(error(of: changed) == .invalid(what: "hello: flags"))
  }

  @Test func `a decoded hello encodes to the same bytes`() throws {
    var generator = SeededGenerator(seed: 1)
    for round in 0..<20_000 {
      var hello = makeHello(cookie: UInt64.random(in: 0...1, using: &generator))
      if round % 2 == 0, hello.cookie == nil { hello.token = AddressToken(Array(1...24)) }
      var bytes = encode(hello)
      for _ in 0..<Int.random(in: 0...3, using: &generator) {
        let index = Int.random(in: 0..<min(bytes.count, 61), using: &generator)
        if index < bytes.count { bytes[index] = UInt8.random(in: 0...255, using: &generator) }
      }
      bytes.removeLast(Int.random(in: 0...2, using: &generator) / 2)
      guard let (datagram, rest) = try? decode(bytes), case .hello(let read) = datagram else {
        continue
      }
      #expect(encode(read) == Array(bytes.dropLast(rest)))
    }
  }

  @Test func `a malformed hello is refused`() {
    let padded = encode(makeHello())
    let carrying = encode(makeHello(cookie: 1))
    #expect(error(of: Array(padded.dropLast())) == .invalid(what: "hello: length"))
    #expect(error(of: padded + [0]) == .invalid(what: "hello: length"))
    #expect(error(of: Array(padded[..<36])) == .invalid(what: "hello: length"))
    let keyless = Hello(key: .none, epoch: 1, resumes: false, cookie: nil)
    #expect(error(of: encode(keyless)) == .invalid(what: "hello: no key"))
    var changed = padded
    changed[1199] = 1
    #expect(error(of: changed) == .invalid(what: "hello: padding"))
    changed = carrying
    changed[1] = 0
    #expect(error(of: changed) == .invalid(what: "hello: magic"))
    changed = carrying
    for flags in 3...UInt8.max {
      changed[27] = flags
      #expect(error(of: changed) == .invalid(what: "hello: flags"))
    }
    let wrong = DecodeError.invalid(
      what: "hello: the bytes after it are no data packet of the initiator")
    #expect(error(of: carrying + [0x50, 0, 0]) == wrong)
    #expect(error(of: carrying + carrying) == wrong)
    for count in 0..<36 {
      guard case .truncated = error(of: Array(carrying[..<count])) else {
        Issue.record("\(count) bytes are no hello")
        continue
      }
    }
  }

  @Test func `a hello of another version can be read`() throws {
    var hello = makeHello(cookie: 1)
    hello.version = 0x0309
    #expect(try decode(encode(hello)) == (.hello(hello), 0))
  }

  @Test func `a retry has 9 or 17 bytes`() throws {
    let cookie = try #require(Cookie(bits: 0x0807_0605_0403_0201))
    for (prefix, bytes) in [
      (nil, [0x81, 1, 2, 3, 4, 5, 6, 7, 8]),
      (0x0A, [0x81, 1, 2, 3, 4, 5, 6, 7, 8, 0x0A, 0, 0, 0, 0, 0, 0, 0]),
    ] as [(UInt64?, [UInt8])] {
      let retry = Retry(cookie: cookie, keyPrefix: prefix)
      var writer = FrameWriter(limit: Retry.maximumLength)
      retry.write(to: &writer)
      #expect(writer.bytes == bytes)
      #expect(try decode(bytes) == (.retry(retry), 0))
      #expect(error(of: bytes + [0]) != nil)
      for count in 0..<bytes.count where count != 9 {
        #expect(error(of: Array(bytes[..<count])) != nil)
      }
    }
    #expect(error(of: [0x81, 0, 0, 0, 0, 0, 0, 0, 0]) == .invalid(what: "retry: no cookie"))
  }

  @Test func `a refusal has 10 bytes, and 26 with a tag`() throws {
    let refusal = Refusal(keyPrefix: key.prefix, reason: 9)
    var writer = FrameWriter(limit: Refusal.length)
    refusal.write(to: &writer)
    #expect(writer.bytes == [0x82, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    #expect(try decode(writer.bytes) == (.refusal(refusal), 0))
    let tagged = writer.bytes + [UInt8](1...16)
    var other = refusal
    other.tag = AuthenticationTag([UInt8](1...16))
    #expect(try decode(tagged) == (.refusal(other), 0))
    #expect(other.tag != AuthenticationTag([UInt8](2...17)))
    for count in 11..<26 { #expect(error(of: Array(tagged[..<count])) != nil) }
    #expect(error(of: tagged + [0]) == .trailingBytes(1))
    for count in 0..<10 { #expect(error(of: Array(writer.bytes[..<count])) != nil) }
    for reason in UInt8.min...UInt8.max {
      let bytes = Array(writer.bytes.dropLast()) + [reason]
      #expect(error(of: bytes) == (reason <= 24 ? nil : .invalid(what: "refusal: reason")))
    }
  }

  @Test func `a handshake has 11 bytes and its message, or 12 and a long one`() throws {
    for (length, size) in [(127, 138), (128, 140), (1_023, 1_035)] {
      let message = [UInt8](repeating: 5, count: length)
      let part = HandshakePart(number: 2, keyPrefix: key.prefix, message: message)
      var writer = FrameWriter(limit: 1_200)
      part.write(to: &writer)
      #expect(part.length == size && writer.bytes.count == size)
      #expect(try decode(writer.bytes) == (.handshake(part), 0))
    }
    let part = HandshakePart(number: 2, keyPrefix: key.prefix, message: [7, 8, 9])
    var writer = FrameWriter(limit: 20)
    part.write(to: &writer)
    let bytes = writer.bytes
    #expect(bytes == [0x83, 2, 1, 2, 3, 4, 5, 6, 7, 8, 3, 7, 8, 9])
    #expect(part.length == bytes.count)
    #expect(try decode(bytes) == (.handshake(part), 0))
    let what: StaticText =
      "handshake: the bytes after it are no data packet of the responder"
    for byte in [0, 0x10, 0x80] as [UInt8] {
      #expect(error(of: bytes + [byte]) == .invalid(what: what))
    }
    #expect(try decode(bytes + [0x50, 0, 0]) == (.handshake(part), 3))
    let longest: [UInt8] = [0x80, 0x08]
    #expect(
      error(of: Array(bytes.prefix(10)) + longest) == .tooLarge(length: 1_024, limit: 1_023))
    for count in 0..<bytes.count { #expect(error(of: Array(bytes[..<count])) != nil) }
    for number in UInt8.min...UInt8.max where number != 2 {
      let what: StaticText =
        number == 1 || number == 3 ? "handshake without a hello" : "handshake: number"
      #expect(error(of: [0x83, number] + bytes[2...]) == .invalid(what: what))
    }
  }

  @Test func `other first bytes are refused`() {
    for first in 0x84...0xFF as ClosedRange<UInt8> {
      #expect(error(of: [first] + [UInt8](repeating: 0, count: 40)) == .invalid(what: "datagram"))
    }
    #expect(error(of: []) == .truncated(wanted: 1, remaining: 0))
  }
}
