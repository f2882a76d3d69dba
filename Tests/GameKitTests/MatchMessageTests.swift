import Foundation
import Testing

@testable import GameKit

@Suite struct MatchMessageTests {
  private static let keys = ["00000000000000ab", "0123456789abcdef"]

  private static let messages: [(MatchMessage, [UInt8])] = [
    (.data(Data([7, 8])), [0, 7, 8]),
    (.data(Data()), [0]),
    (.propose(number: 258, players: keys), [1, 2, 1, 0, 0] + Array(keys.joined().utf8)),
    (.agree(number: 3), [2, 3, 0, 0, 0]),
    (.refuse(number: 3), [3, 3, 0, 0, 0]),
    (.withdraw(number: 3), [4, 3, 0, 0, 0]),
    (.begin(proposer: keys[0], number: 3), [5, 3, 0, 0, 0] + Array(keys[0].utf8)),
    (.askForHost, [6]),
    (.askForCost, [7]),
    (.cost(nil), [8]),
    (.cost(1 << 24), [8, 0, 0, 0, 1]),
    (.host(nil), [9]),
    (.host(keys[1]), [9] + Array(keys[1].utf8)),
  ]

  @Test func `messages have the bytes of the wire format, and come back as they were`() {
    for (message, bytes) in Self.messages {
      #expect(message.encoded == Data(bytes))
      #expect(MatchMessage(decoding: Data(bytes)) == message)
      // A slice has other indices.
      #expect(MatchMessage(decoding: Data([9] + bytes).dropFirst()) == message)
    }
  }

  @Test(
    arguments: [
      [], [10], [1, 2, 1, 0], [2, 3, 0, 0], [2, 3, 0, 0, 0, 0], [5, 3, 0, 0, 0], [6, 0], [7, 0],
      [8, 1], [9] + Array("0123456789ABCDEF".utf8), [9] + Array(keys.joined().utf8),
      [1, 0, 0, 0, 0] + [UInt8](repeating: 0x30, count: 16 * 65),
    ] as [[UInt8]])
  func `a message that is malformed is refused`(bytes: [UInt8]) {
    #expect(MatchMessage(decoding: Data(bytes)) == nil)
  }

  @Test func `the best host has the lowest cost, and of several the lowest key`() {
    var choice = HostChoice(among: ["a", "b", "c", "d"])
    choice.note(9, of: "d")
    choice.note(4, of: "c")
    choice.note(1, of: "c")
    choice.note(4, of: "b")
    #expect(!choice.isComplete)
    choice.note(nil, of: "a")
    #expect(choice.isComplete)
    #expect(choice.best == "b")
    choice.remove("b")
    #expect(choice.best == "c")
    #expect(HostChoice(among: []).best == nil)
  }
}
