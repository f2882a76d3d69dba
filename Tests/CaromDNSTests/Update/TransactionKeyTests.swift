import CaromDNS
import Testing

/// Signatures, checked against messages that dnspython has signed.
@Suite struct TransactionKeyTests {
  typealias Fixtures = SignedFixtures

  @Test func `R84: signed updates have the same bytes as those of dnspython`() throws {
    let (key, time) = (Fixtures.key, Fixtures.time)
    let claim = key.sign(try Fixtures.claim().encoded(id: 0x1234), at: time)
    #expect(claim.bytes == (try Fixtures.message("claim")))
    let removal = key.sign(try Fixtures.removal().encoded(id: 0x1234), at: time)
    #expect(removal.bytes == (try Fixtures.message("removal")))
  }

  @Test func `R84: the responses that dnspython has signed are verified`() throws {
    let code = try requestCode()
    for name in ["success", "in-use"] {
      let response = try Fixtures.message(name)
      guard case .verified(let signature) = verdict(response, code) else {
        Issue.record("\(name) is not verified")
        continue
      }
      #expect(signature.time == Fixtures.time && signature.code.count == 32)
    }
  }

  @Test func `R84: a response that differs in any bit is unproven`() throws {
    let code = try requestCode()
    let response = try Fixtures.message("success")
    for bit in 0..<response.count * 8 {
      var forged = response
      forged[bit / 8] ^= 1 << UInt8(bit % 8)
      switch verdict(forged, code) {
      case .unproven: break
      // The ID is not covered, because a forwarding server may change it: bits 0 to 15. Names are
      // compared without regard to case, so their bit 0x20 does not count either.
      case .verified: #expect(bit < 16 || response[bit / 8] ^ forged[bit / 8] == 0x20, "bit \(bit)")
      case .clocksDiffer: Issue.record("bit \(bit)")
      }
    }
  }

  @Test func `R84: a response to another request or with another key is unproven`() throws {
    let (code, response) = (try requestCode(), try Fixtures.message("success"))
    var other = code
    other[31] ^= 1
    #expect(verdict(response, other) == .unproven(error: 0))
    #expect(verdict(response, []) == .unproven(error: 0))
    #expect(
      Fixtures.wrongKey.verify(response, to: code, at: Fixtures.time) == .unproven(error: 0))
    let renamed = Fixtures.makeKey(Array(0..<32), name: "other-key")
    #expect(renamed.verify(response, to: code, at: Fixtures.time) == .unproven(error: 0))
    let unsigned = Array(response[..<(response.count - 1)])
    #expect(verdict(unsigned, code) == .unproven(error: nil))
    #expect(verdict([], code) == .unproven(error: nil))
  }

  @Test(arguments: [0, 300, -300] as [Int64])
  func `R84: clocks may differ by 300 seconds`(difference: Int64) throws {
    let response = try Fixtures.message("success")
    let time = UInt64(Int64(Fixtures.time) + difference)
    guard case .verified = Fixtures.key.verify(response, to: try requestCode(), at: time) else {
      Issue.record("not verified")
      return
    }
  }

  @Test(arguments: [301, -301] as [Int64])
  func `R84: clocks that differ by more than 300 seconds are noticed`(difference: Int64) throws {
    let response = try Fixtures.message("success")
    let time = UInt64(Int64(Fixtures.time) + difference)
    guard case .clocksDiffer = Fixtures.key.verify(response, to: try requestCode(), at: time)
    else {
      Issue.record("not noticed")
      return
    }
  }

  @Test func `R84: the server's complaint about the clock contains its time`() throws {
    guard
      case .clocksDiffer(let signature) = verdict(
        try Fixtures.message("bad-time"), try requestCode())
    else {
      Issue.record("not noticed")
      return
    }
    #expect(signature.error == 18)
    #expect(signature.otherData == [0, 0] + [0x69, 0x27, 0x41, 0x4D])
  }

  @Test func `a key shows its name, never its secret`() {
    let secret = Array("a secret of 32 bytes, well known".utf8)
    let key = Fixtures.makeKey(secret)
    #expect("\(key)" == "key game-key" && String(reflecting: key) == "key game-key")
    var dump = ""
    Swift.dump(key, to: &dump)
    #expect(!dump.contains("secret") && !dump.contains("97"))
  }

  private func requestCode() throws -> [UInt8] {
    Fixtures.key.sign(try Fixtures.claim().encoded(id: 0x1234), at: Fixtures.time).code
  }

  private func verdict(_ response: [UInt8], _ code: [UInt8]) -> TransactionKey.Verdict {
    Fixtures.key.verify(response, to: code, at: Fixtures.time)
  }
}
