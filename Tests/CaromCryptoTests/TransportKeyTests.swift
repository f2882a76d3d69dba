import Testing

@testable import CaromCrypto

/// What the keys of messages promise, with each cipher that this processor has.
struct TransportKeyTests {
  private func makeKey(_ cipher: Cipher, _ byte: UInt8 = 1) -> TransportKey {
    TransportKey(SecretBytes(repeating: byte), cipher)
  }

  private func open(
    _ message: [UInt8], head: Int, number: UInt64, _ key: TransportKey
  ) -> [UInt8]? {
    var output: [UInt8] = [0xEE]
    let isAuthentic = key.open(message.span, head: head, number: number, into: &output)
    #expect(output.first == 0xEE)
    #expect(isAuthentic || output.count == 1)  // a forged message leaves nothing behind
    return isAuthentic ? Array(output.dropFirst()) : nil
  }

  @Test(arguments: Cipher.allCases.filter(\.isAvailable), [0, 1, 15, 16, 17, 300, 1_400])
  func `what is sealed can be opened, and the head stays readable`(
    _ cipher: Cipher, _ length: Int
  ) {
    let key = makeKey(cipher)
    let content = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
    for head in [[], [1, 2, 3]] as [[UInt8]] {
      var message = head + content
      key.seal(&message, head: head.count, number: 5)
      #expect(message.count == head.count + length + 16)
      #expect(Array(message.prefix(head.count)) == head)
      if length > 15 { #expect(Array(message[head.count...].prefix(length)) != content) }
      #expect(open(message, head: head.count, number: 5, key) == content)
      var same = head + content
      key.expanded().seal(&same, head: head.count, number: 5)
      #expect(same == message)
      #expect(open(message, head: head.count, number: 5, key.expanded()) == content)
    }
  }

  @Test(arguments: Cipher.allCases.filter(\.isAvailable))
  func `the next key does not depend on the form of this one`(_ cipher: Cipher) {
    let key = makeKey(cipher)
    var message: [UInt8] = [1, 2, 3]
    key.makeNext().seal(&message, head: 1, number: 0)
    #expect(open(message, head: 1, number: 0, key.expanded().makeNext()) == [2, 3])
    #expect(open(message, head: 1, number: 0, key.expanded().makeNext().expanded()) == [2, 3])
    #expect(open(message, head: 1, number: 0, key.expanded()) == nil)
  }

  @Test(arguments: Cipher.allCases.filter(\.isAvailable))
  func `every changed bit, another number, head or key is noticed`(_ cipher: Cipher) {
    checkForgeries(makeKey(cipher))
    checkForgeries(makeKey(cipher).expanded())
  }

  private func checkForgeries(_ key: TransportKey) {
    var message: [UInt8] = [1, 2, 10, 11, 12]
    key.seal(&message, head: 2, number: 1 << 40)
    for bit in 0..<message.count * 8 {
      var forged = message
      forged[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(open(forged, head: 2, number: 1 << 40, key) == nil, "bit \(bit)")
    }
    #expect(open(message, head: 2, number: 1 << 40 + 1, key) == nil)
    #expect(open(message, head: 2, number: 1 << 8, key) == nil)
    #expect(open(message, head: 1, number: 1 << 40, key) == nil)
    #expect(open(message, head: 2, number: 1 << 40, makeKey(key.cipher, 2)) == nil)
    #expect(open(Array(message.dropLast()), head: 2, number: 1 << 40, key) == nil)
    #expect(open([1, 2] + [UInt8](repeating: 0, count: 15), head: 2, number: 0, key) == nil)
    #expect(open(message, head: 2, number: 1 << 40, key) == [10, 11, 12])
  }

  @Test func `secrets are not shown, and are compared as a whole`() {
    let secret = SecretBytes([1, 2, 3, 250])
    #expect("\(secret)" == "4 secret bytes")
    #expect(String(reflecting: secret) == "4 secret bytes")
    var dumped = ""
    dump(secret, to: &dumped)
    #expect(!dumped.contains("250"))
    #expect(secret == SecretBytes([1, 2, 3, 250]))
    #expect(secret != SecretBytes([1, 2, 3, 251]))
    #expect(secret != secret.prefix(3))
    #expect(secret.prefix(3).reveal() == [1, 2, 3])
    var moved: [UInt8] = [9, 9]
    #expect(SecretBytes(moving: &moved).reveal() == [9, 9])
    #expect(moved == [0, 0])
  }
}
