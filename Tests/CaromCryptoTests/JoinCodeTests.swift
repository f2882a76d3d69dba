import CaromCore
import Testing

@testable import CaromCrypto

/// The codes that people type in, and how many of them somebody may guess.
struct JoinCodeTests {
  @Test func `a code has eight characters in two groups, and no look-alikes`() {
    var generator = SeededGenerator(seed: 3)
    var seen: Set<Character> = []
    for _ in 0..<200 {
      let text = JoinCode(using: &generator).text
      let groups = text.split(separator: "-")
      #expect(groups.map(\.count) == [4, 4])
      seen.formUnion(groups.joined())
    }
    #expect(seen == Set("0123456789ABCDEFGHJKMNPQRSTVWXYZ"))
  }

  @Test func `each code has 40 bits of the randomness`() throws {
    var generator = SeededGenerator(seed: 4)
    var same = generator
    let codes = (0..<1_000).map { _ in JoinCode(using: &generator) }
    #expect(Set(codes).count == 1_000)
    #expect(JoinCode(using: &same) == codes[0])
    // Each of the eight places has all 32 characters.
    for place in [0, 1, 2, 3, 5, 6, 7, 8] {
      #expect(Set(codes.map { Array($0.text)[place] }).count == 32)
    }
  }

  @Test(arguments: [
    "K7QM-2XRT", "k7qm2xrt", " K7QM 2XRT ", "K7-QM-2X-RT", "k 7 q m 2 x r t\n",
    "K7QM\u{2013}2XRT", "K7QM\u{A0}2XRT", "K7QM\u{2011}2XRT", "K7QM\t2xrt", "----K7QM2XRT",
  ])
  func `a code is read as people write it`(text: String) throws {
    #expect(try JoinCode(text).text == "K7QM-2XRT")
  }

  @Test func `look-alikes are read as what they look like`() throws {
    #expect(try JoinCode("iIlLoOuU").text == "1111-00VV")
    #expect(try JoinCode("1111-00VV") == JoinCode("iIlLoOuU"))
  }

  @Test func `every character that can be shown is read as itself`() throws {
    for character in "0123456789ABCDEFGHJKMNPQRSTVWXYZ" {
      let text = String(repeating: String(character), count: 8)
      #expect(try JoinCode(text).text.replacing("-", with: "") == text)
      #expect(try JoinCode(text.lowercased()) == JoinCode(text))
    }
  }

  @Test func `a text of another length is refused`() {
    for text in ["", "-", "K7QM2XR", "K7QM2XRTA", "K7QM-2XRT-K7QM-2XRT"] {
      #expect(throws: JoinCodeError.wrongLength, "\(text)") { try JoinCode(text) }
    }
    let spaces = String(repeating: " ", count: JoinCode.maximumText - 8)
    #expect(throws: Never.self) { try JoinCode(spaces + "K7QM2XRT") }
    #expect(throws: JoinCodeError.wrongLength) { try JoinCode(spaces + " K7QM2XRT") }
  }

  @Test func `a character of no code is refused and named`() {
    for character in ["!", "_", ".", "é", "\u{FF21}", "\u{0661}", "🏒", "\u{0}"] as [Character] {
      #expect(throws: JoinCodeError.invalid(character)) { try JoinCode("K7QM2XR\(character)") }
      #expect(JoinCodeError.invalid(character).description.hasPrefix("'\(character)'"))
    }
    #expect(JoinCodeError.wrongLength.description.contains("8 letters and digits"))
  }

  @Test func `the password is the eight characters without the hyphen`() throws {
    #expect(try JoinCode("k7qm-2xrt").password.reveal() == Array("K7QM2XRT".utf8))
  }

  @Test func `a description does not show the code`() throws {
    let code = try JoinCode("K7QM-2XRT")
    var dumped = ""
    dump(code, to: &dumped)
    for text in ["\(code)", String(reflecting: code), dumped] {
      #expect(!text.contains("K7QM") && !text.contains("19"))
    }
    #expect("\(code)" == "join code")
  }
}

/// How often a wrong code may be tried.
struct JoinCodeGateTests {
  private let code = try! JoinCode("K7QM-2XRT")
  private let start = Instant.zero
  private let peer = PeerID(high: 0, low: 1)

  /// Makes a wrong attempt, and returns when the next one may be made.
  private func fail(_ gate: inout JoinCodeGate, at now: Instant) throws -> Instant? {
    try gate.beginAttempt(at: now)
    guard case .wrongCode(_, let end) = gate.rejectAttempt() else { return nil }
    return end
  }

  @Test func `three attempts may be wrong, then all wait 30 s, and twice as long each time`() throws
  {
    var gate = JoinCodeGate(code)
    #expect(try fail(&gate, at: start) == nil)
    #expect(try fail(&gate, at: start) == nil)
    var now = start
    for seconds in [30, 60, 120, 240, 480, 600, 600, 600] {
      let end = try #require(try fail(&gate, at: now))
      #expect(end == now + .seconds(seconds))
      for early in [now, end.advanced(byNanoseconds: -1)] {
        #expect(throws: JoinCodeGate.Refusal.waiting(until: end)) {
          try gate.beginAttempt(at: early)
        }
      }
      now = end
    }
  }

  @Test func `the host is told of each wrong code`() throws {
    var gate = JoinCodeGate(code)
    for count in 1...2 {
      try gate.beginAttempt(at: start)
      #expect(gate.rejectAttempt() == .wrongCode(count: count, waitsUntil: nil))
    }
    try gate.beginAttempt(at: start)
    let end = start + .seconds(30)
    #expect(gate.rejectAttempt() == .wrongCode(count: 3, waitsUntil: end))
    #expect(throws: JoinCodeGate.Refusal.waiting(until: end)) { try gate.beginAttempt(at: start) }
    #expect(gate.rejectAttempt() == .wrongCode(count: 3, waitsUntil: end))
  }

  @Test func `a right attempt forgives the wrong ones`() throws {
    var gate = JoinCodeGate(code)
    for _ in 0..<2 { _ = try fail(&gate, at: start) }
    try gate.beginAttempt(at: start)
    try gate.acceptAttempt(by: peer)
    for _ in 0..<2 { #expect(try fail(&gate, at: start) == nil) }
    #expect(try fail(&gate, at: start) == start + .seconds(30))
  }

  @Test func `attempts at the same time count before they have failed`() throws {
    var gate = JoinCodeGate(code)
    for _ in 0..<3 { try gate.beginAttempt(at: start) }
    #expect(throws: JoinCodeGate.Refusal.waiting(until: start + .seconds(30))) {
      try gate.beginAttempt(at: start)
    }
  }

  @Test func `ten thousand guesses take more than two months`() throws {
    var gate = JoinCodeGate(code)
    var now = start
    for _ in 0..<10_000 { now = try fail(&gate, at: now) ?? now }
    #expect(now - start > .seconds(60 * 86_400))
    #expect(now - start < .seconds(70 * 86_400))
  }

  @Test func `at most 150 guesses are tested in a day`() throws {
    var gate = JoinCodeGate(code)
    var now = start
    var count = 0
    while now - start < .seconds(86_400) {
      now = try fail(&gate, at: now) ?? now
      count += 1
    }
    #expect(count <= 150 && count > 140)
  }

  @Test func `a code for one use is used up by the first right attempt`() throws {
    var gate = JoinCodeGate(code, isForOneUse: true)
    #expect(try fail(&gate, at: start) == nil)
    try gate.beginAttempt(at: start)
    try gate.beginAttempt(at: start)  // on another loop
    try gate.acceptAttempt(by: peer)
    let other = PeerID(high: 0, low: 2)
    #expect(throws: JoinCodeGate.Refusal.used) { try gate.acceptAttempt(by: other) }
    #expect(throws: JoinCodeGate.Refusal.used) { try gate.beginAttempt(by: other, at: start) }
    #expect(throws: JoinCodeGate.Refusal.used) { try gate.beginAttempt(at: start) }
    // Another link of the peer that has used the code.
    try gate.beginAttempt(by: peer, at: start)
    try gate.acceptAttempt(by: peer)
  }

  @Test func `a code is for any number of uses unless the host says otherwise`() throws {
    var gate = JoinCodeGate(code)
    for _ in 0..<100 {
      try gate.beginAttempt(at: start)
      try gate.acceptAttempt(by: peer)
    }
  }

  @Test func `both sides derive one key from one code, and different keys from different codes`()
    throws
  {
    func makeKey(_ own: String, _ other: String) throws -> (SecretBytes?, SecretBytes?) {
      let sides = [(own, true, UInt8(1)), (other, false, 2)].map { text, isInitiator, seed in
        PasswordExchange(
          password: try! JoinCode(text).password, channel: [1], sessionID: [2],
          isInitiator: isInitiator, randomness: SecretBytes(repeating: seed, count: 64))
      }
      return (sides[0].makeKey(share: sides[1].share), sides[1].makeKey(share: sides[0].share))
    }
    let same = try makeKey("K7QM-2XRT", "k7qm 2xrt")
    #expect(same.0 != nil && same.0 == same.1)
    let different = try makeKey("K7QM-2XRT", "K7QM-2XRV")
    #expect(different.0 != nil && different.0 != different.1)
  }
}
