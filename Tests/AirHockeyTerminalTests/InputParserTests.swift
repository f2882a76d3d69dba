import CaromCore
import Testing

@testable import AirHockeyTerminal

struct InputParserTests {
  func parse(_ text: String, pauses: Bool = true) -> [InputEvent] {
    parse(Array(text.utf8), pauses: pauses)
  }

  func parse(_ bytes: [UInt8], pauses: Bool = true) -> [InputEvent] {
    var parser = InputParser()
    let events = bytes.compactMap { parser.handle($0) }
    return pauses ? events + [parser.handlePause()].compactMap { $0 } : events
  }

  @Test(arguments: [
    ("w", KeyPress(.character("w"))), ("W", KeyPress(.character("w"))),
    ("ц", KeyPress(.character("ц"))), ("😀", KeyPress(.character("😀"))),
    ("\u{3}", KeyPress(.character("c"), control: true)), ("\r", KeyPress(.enter)),
    ("\u{1B}", KeyPress(.escape)), ("\u{1B}[A", KeyPress(.up)), ("\u{1B}OD", KeyPress(.left)),
    ("\u{1B}[1;5C", KeyPress(.right, control: true)), ("\u{1B}[1;1:3B", KeyPress(.down, .released)),
    ("\u{1B}[119u", KeyPress(.character("w"))),
    ("\u{1B}[119;1:2u", KeyPress(.character("w"), .repeated)),
    ("\u{1B}[119:87;2:3u", KeyPress(.character("w"), .released)),
    ("\u{1B}[99;5u", KeyPress(.character("c"), control: true)),
    ("\u{1B}[1094::119;;1094u", KeyPress(.character("w"))), ("\u{1B}[27u", KeyPress(.escape)),
    ("\u{1B}[57419;1u", KeyPress(.up)), ("\u{7F}", KeyPress(.backspace)),
  ])
  func `a key is known by its bytes`(bytes: String, press: KeyPress) {
    #expect(parse(bytes) == [.key(press)])
  }

  @Test func `pointer, focus and keyboard reports are parsed`() {
    #expect(parse("\u{1B}[<35;10;5M") == [.pointer(x: 9, y: 4, action: .moved)])
    #expect(parse("\u{1B}[<0;1;1M") == [.pointer(x: 0, y: 0, action: .pressed)])
    #expect(parse("\u{1B}[<0;1;1m") == [.pointer(x: 0, y: 0, action: .released)])
    #expect(parse("\u{1B}[M !!") == [.pointer(x: 0, y: 0, action: .pressed)])
    #expect(parse("\u{1B}[I\u{1B}[O") == [.focus(true), .focus(false)])
    #expect(parse("\u{1B}[?15u") == [.reportsReleases])
    #expect(parse("\u{1B}[?0u") == [])
    #expect(parse("\u{1B}[?1016;1$y") == [.reportsPixels])
    #expect(parse("\u{1B}[?1016;0$y\u{1B}[?1004;1$y") == [])
  }

  @Test(arguments: [
    "\u{1B}[?62;c", "\u{1B}]0;title\u{7}", "\u{1B}P1$r0m\u{1B}\\", "\u{1B}[<64;3;3M", "\u{1B}[5~",
    "\u{1B}[<0;0;5M", "\u{1B}[57358u", "\u{1B}[99999999999u", "\u{1B}[1 q",
  ])
  func `what a game has no use for is passed over, and the next key is known`(bytes: String) {
    #expect(parse(bytes + "q") == [.key(KeyPress(.character("q")))])
  }

  @Test func `an endless sequence is skipped`() {
    let flood = "\u{1B}[" + String(repeating: "1;", count: 100_000) + "A"
    #expect(parse(flood + "q") == [.key(KeyPress(.character("q")))])
  }

  @Test func `invalid text does not swallow the next key`() {
    #expect(parse([0xE2, 0x82, 0x77]) == [.key(KeyPress(.character("w")))])
    #expect(parse([0xED, 0xA0, 0x80, 0x77]) == [.key(KeyPress(.character("w")))])
    #expect(parse([0xFF, 0x80, 0x77]) == [.key(KeyPress(.character("w")))])
  }

  @Test func `no bytes trap the parser, and keys after them are still recognized`() {
    #if DEBUG
      let rounds = 20_000
    #else
      let rounds = 200_000
    #endif
    var random = SeededGenerator(seed: 11)
    let telling: [UInt8] = Array("\u{1B}[]OMPu<?;:0123456789ABCDmMI~\u{7}".utf8)
    var parser = InputParser()
    for _ in 0..<rounds {
      let any = UInt8.random(in: 0...255, using: &random)
      let byte = random.chance(0.8) ? telling.randomElement(using: &random) ?? any : any
      _ = parser.handle(byte)
      if random.chance(0.01) { _ = parser.handlePause() }
    }
    // The longest way back to the ground: out of a string, an old mouse report, a character.
    for byte in Array("\u{1B}\\    ".utf8) { _ = parser.handle(byte) }
    #expect(parser.handle(0x71) == .key(KeyPress(.character("q"))))
  }
}
