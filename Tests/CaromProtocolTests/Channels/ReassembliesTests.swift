import CaromCore
import Testing

@testable import CaromProtocol

@Suite struct ReassembliesTests {
  @Test func `a fragment refused because of too many gaps is accepted later`() throws {
    var arena = MessageArena()
    var reassemblies = Reassemblies()
    let count = ChannelLimits.reassemblyRanges
    let message = makeMessage(1, length: 2 * count + 1)
    let index = try reassemblies.begin(message.count, needsCredit: false, arena: &arena)
    func add(_ offset: Int) throws {
      let byte = message.span.extracting(offset..<offset + 1)
      _ = try reassemblies.add(byte, at: offset, to: index, arena: &arena)
    }
    for range in 0..<count { try add(2 * range) }
    #expect(throws: DecodeError.self) { try add(2 * count) }
    for range in 0..<count { try add(2 * range + 1) }
    #expect(!reassemblies[index].isComplete)
    try add(2 * count)
    #expect(reassemblies[index].isComplete)
    let buffer = arena[reassemblies[index].buffer]
    #expect(Array(buffer.prefix(message.count)) == message)
  }
}
