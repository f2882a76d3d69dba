import CaromCore
import Testing

@testable import CaromDNS

@Suite struct MessageWriterTests {
  @Test func `R68: a name is not compressed to a name in a record that did not fit`() throws {
    let big = Record("host.local", .text([UInt8](repeating: 0, count: 60)), timeToLive: 120)
    let small = Record("host.local", .address(.v4(0x0A00_0001)), timeToLive: 120)
    var alone = MessageWriter(id: 0, flags: 0x8400, limit: 64)
    let fitsAlone = alone.append(small, to: .answer)
    #expect(fitsAlone)
    var writer = MessageWriter(id: 0, flags: 0x8400, limit: 64)
    let fits = [writer.append(big, to: .answer), writer.append(small, to: .answer)]
    #expect(fits == [false, true])
    #expect(writer.bytes == alone.bytes)
    #expect(try Message(decoding: writer.bytes).answers == [small])
  }
}
