import Testing

@testable import AirHockeyTerminal

@Suite struct InputReportTests {
  private func parse(_ text: String) -> [InputEvent] {
    var parser = InputParser()
    return Array(text.utf8).compactMap { parser.handle($0) }
  }

  @Test(
    arguments: [
      ("\u{1B}[A", .up), ("\u{1B}[B", .down), ("\u{1B}[C", .right), ("\u{1B}[D", .left),
      ("\u{1B}OA", .up), ("\u{1B}OB", .down), ("\u{1B}OC", .right), ("\u{1B}[57417u", .left),
      ("\u{1B}[57418u", .right), ("\u{1B}[57420u", .down), ("\u{1B}[13u", .enter),
      ("\u{1B}[57414u", .enter), ("\u{1B}[9u", .tab), ("\u{1B}[127u", .backspace), ("\n", .enter),
      ("\t", .tab), ("\u{8}", .backspace), ("\u{1B}[32u", .character(" ")), ("É", .character("é")),
      ("ß", .character("ß")), ("Я", .character("я")), ("~", .character("~")),
    ] as [(String, KeyPress.Key)])
  func `a key has one meaning, however the terminal reports it`(bytes: String, key: KeyPress.Key) {
    #expect(parse(bytes) == [.key(KeyPress(key))])
  }

  @Test func `modifiers are reported plus one, and control is the third bit of them`() {
    for (modifiers, control) in [
      (0, false), (1, false), (2, false), (4, false), (5, true), (6, true),
      (9, false), (13, true),
    ] {
      #expect(
        parse("\u{1B}[1;\(modifiers)A") == [.key(KeyPress(.up, control: control))])
    }
    for (letter, code) in zip("abz", [1, 2, 26] as [UInt8]) {
      let scalar = Unicode.Scalar(code)
      let key = KeyPress.Key.character(letter.unicodeScalars.first ?? " ")
      #expect(parse(String(scalar)) == [.key(KeyPress(key, control: true))])
    }
    #expect(parse("\u{0}\u{1C}\u{1F}").isEmpty)
    for (action, expected) in [
      ("1", .pressed), ("2", .repeated), ("3", .released), ("4", .pressed),
    ]
      as [(String, KeyPress.Action)]
    {
      #expect(parse("\u{1B}[97;1:\(action)u") == [.key(KeyPress(.character("a"), expected))])
    }
  }

  @Test func `an old mouse report has three bytes after its start`() {
    let report = { (button: Int, column: Int, row: Int) in
      var parser = InputParser()
      return ([0x1B, 0x5B, 0x4D] + [button, column, row].map { UInt8($0) })
        .compactMap { parser.handle($0) }
    }
    #expect(report(32, 33, 33) == [.pointer(x: 0, y: 0, action: .pressed)])
    #expect(report(35, 43, 40) == [.pointer(x: 10, y: 7, action: .released)])
    #expect(report(64, 43, 40) == [.pointer(x: 10, y: 7, action: .moved)])
    #expect(report(67, 43, 40) == [.pointer(x: 10, y: 7, action: .moved)])
    for wrong in [report(96, 43, 40), report(31, 43, 40), report(32, 32, 40), report(32, 40, 32)] {
      #expect(wrong.isEmpty)
    }
  }

  @Test func `a pointer report has a button, a column and a row`() {
    #expect(parse("\u{1B}[<0;20;3M") == [.pointer(x: 19, y: 2, action: .pressed)])
    #expect(parse("\u{1B}[<2;20;3m") == [.pointer(x: 19, y: 2, action: .released)])
    #expect(parse("\u{1B}[<32;20;3m") == [.pointer(x: 19, y: 2, action: .moved)])
    for wrong in ["<0;20M", "<;20;3M", "<65;20;3M", "<0;0;3M", "<0;3;0M", "0;20;3M", "<0;20;3A"] {
      #expect(parse("\u{1B}[" + wrong).isEmpty)
    }
  }

  @Test func `answers of the terminal are recognized by their numbers`() {
    for (text, event) in [
      ("?1016;3$y", .reportsPixels), ("?1016;1$y", .reportsPixels), ("?1016;2$y", nil),
      ("?1016;4$y", nil), ("?1006;1$y", nil), ("1016;1$y", nil), ("?1016;1$z", nil),
      ("?2u", .reportsReleases), ("?1u", nil), ("?3u", .reportsReleases), ("?u", nil),
      ("?I", nil), ("I", .focus(true)), ("O", .focus(false)), (">1u", nil),
    ] as [(String, InputEvent?)] {
      #expect(parse("\u{1B}[" + text) == (event.map { [$0] } ?? []))
    }
  }

  @Test func `a sequence has up to 48 parameter bytes, and a new one begins at every escape`() {
    let zeros = { (count: Int) in "\u{1B}[" + String(repeating: ";", count: count) + "A" }
    #expect(parse(zeros(48)) == [.key(KeyPress(.up))] && parse(zeros(49)).isEmpty)
    #expect(parse("\u{1B}[12\u{1B}[B") == [.key(KeyPress(.down))])
    #expect(parse("\u{1B}[12\u{7}w") == [.key(KeyPress(.character("w")))])
    #expect(parse("\u{1B}\u{1B}[B") == [.key(KeyPress(.escape)), .key(KeyPress(.down))])
    #expect(parse("\u{1B}w") == [.key(KeyPress(.character("w")))])
    for start in ["P", "X", "]", "^", "_"] {
      #expect(parse("\u{1B}\(start)w\u{1B}w\u{1B}\\q") == [.key(KeyPress(.character("q")))])
      #expect(parse("\u{1B}\(start)ww\u{7}q") == [.key(KeyPress(.character("q")))])
    }
    #expect(parse("\u{1B}[1000000000u").isEmpty && parse("\u{1B}[1114112u").isEmpty)
    #expect(parse("\u{1B}[57344u").isEmpty && parse("\u{1B}[63743u").isEmpty)
    #expect(parse("\u{1B}[63744u").count == 1 && parse("\u{1B}[57343u").isEmpty)
  }

  @Test func `only an escape before a pause is the Escape key`() {
    var parser = InputParser()
    #expect(parser.handlePause() == nil)
    _ = parser.handle(0x1B)
    #expect(parser.handlePause() == .key(KeyPress(.escape)))
    #expect(parser.handlePause() == nil)
    for byte in [0x1B, 0x5B] as [UInt8] { _ = parser.handle(byte) }
    #expect(parser.handlePause() == nil)
    #expect(parser.handle(0x41) == .key(KeyPress(.up)))
  }
}
