import CaromCore
import Testing

@testable import AirHockeyTerminal

struct ScreenEncoderTests {
  let palette = [Color(0, 0, 0), Color(255, 0, 0), Color(1, 2, 3), Color(200, 210, 220)]

  /// A screen like a frame of the game: half blocks, blanks with an invisible foreground, and
  /// words.
  func makeScreen(_ random: inout SeededGenerator, after last: Screen?) -> Screen {
    var screen = last ?? Screen(columns: 23, rows: 7)
    for _ in 0..<Int.random(in: 0...40, using: &random) {
      let upper = palette.randomElement(using: &random) ?? palette[0]
      let lower = palette.randomElement(using: &random) ?? palette[0]
      let glyph: Unicode.Scalar = upper == lower ? " " : "▀"
      screen[.random(in: 0..<23, using: &random), .random(in: 0..<7, using: &random)] =
        Cell(glyph, upper, on: lower)
    }
    let word = ["GOAL", "Léo", "日本", ""].randomElement(using: &random) ?? ""
    screen.write(word, column: 3, row: 2, palette[3], isBold: random.chance(0.5))
    return screen
  }

  /// The screen without invalid cells: the right half of a wide character requires its left half.
  func normalized(_ screen: Screen) -> Screen {
    var result = screen
    for row in 0..<screen.rows {
      for column in 0..<screen.columns where screen[column, row].glyph == Cell.tail {
        let head = screen[column - 1, row]
        if TextWidth.columns(of: head.glyph) == 2 { continue }
        result[column, row] = Cell(" ", head.background, on: head.background)
      }
    }
    return result
  }

  @Test func `a terminal that receives the differences shows the screen`() throws {
    var random = SeededGenerator(seed: 7)
    var encoder = ScreenEncoder(depth: .full)
    var terminal = TerminalDouble(columns: 23, rows: 7)
    for _ in 0..<200 {
      // Words of wide characters are only laid over a fresh row, as the painter does.
      let screen = normalized(makeScreen(&random, after: nil))
      try terminal.feed(encoder.encode(screen))
      #expect(terminal.screen.text == screen.text)
      let shown = terminal.screen.cells.map { EncodedCell($0, .full) }
      #expect(shown == screen.cells.map { EncodedCell($0, .full) })
    }
  }

  @Test func `an unchanged screen sends nothing`() {
    var encoder = ScreenEncoder(depth: .full)
    let screen = Screen(columns: 80, rows: 24)
    #expect(!encoder.encode(screen).isEmpty)
    #expect(encoder.encode(screen).isEmpty)
    encoder.reset()
    #expect(!encoder.encode(screen).isEmpty)
  }

  @Test func `one changed cell sends that cell inside a synchronized update`() {
    var encoder = ScreenEncoder(depth: .full)
    var screen = Screen(columns: 80, rows: 24)
    _ = encoder.encode(screen)
    screen[9, 4] = Cell("▀", Color(255, 0, 1), on: Color(0, 0, 0))
    let bytes = String(decoding: encoder.encode(screen), as: UTF8.self)
    #expect(bytes == "\u{1B}[?2026h\u{1B}[5;10H\u{1B}[38;2;255;0;1m▀\u{1B}[?2026l")
  }

  @Test func `colors that older terminals cannot distinguish are not sent again`() {
    var encoder = ScreenEncoder(depth: .palette)
    _ = encoder.encode(Screen(columns: 40, rows: 12, filledWith: Color(255, 0, 0)))
    #expect(encoder.encode(Screen(columns: 40, rows: 12, filledWith: Color(254, 1, 0))).isEmpty)
  }

  @Test func `without colors, bright pixels are blocks`() {
    var encoder = ScreenEncoder(depth: .none)
    let (dark, bright) = (Color(0, 0, 0), Color(255, 255, 255))
    var screen = Screen(columns: 4, rows: 1, filledWith: dark)
    screen[0, 0] = Cell("▀", bright, on: dark)
    screen[1, 0] = Cell("▀", dark, on: bright)
    screen[2, 0] = Cell(" ", dark, on: bright)
    let bytes = String(decoding: encoder.encode(screen), as: UTF8.self)
    #expect(bytes.hasSuffix("▀▄█ \u{1B}[?2026l"))
    #expect(!bytes.contains("8;"))
  }

  @Test(arguments: [
    (["TERM": "xterm-256color"], ColorDepth.palette),
    (["TERM": "xterm-256color", "COLORTERM": "truecolor"], .full),
    (["TERM": "xterm-kitty"], .full), (["TERM": "xterm-direct"], .full),
    (["TERM": "xterm-kitty", "NO_COLOR": "1"], ColorDepth.none),
    (["TERM": "xterm", "NO_COLOR": ""], .palette), (["TERM": "vt100"], ColorDepth.none),
    ([:], .none),
  ])
  func `the environment determines the color depth`(
    environment: [String: String], depth: ColorDepth
  ) {
    #expect(ColorDepth(environment: environment) == depth)
  }
}
