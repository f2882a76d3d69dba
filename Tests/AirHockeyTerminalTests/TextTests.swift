import CaromPhysics
import TerminalText
import Testing

@testable import AirHockeyTerminal

@Suite struct TextTests {
  @Test(
    arguments: [
      ("a", 1), (" ", 1), ("~", 1), ("é", 1), ("ß", 1), ("\u{7F}", 0), ("\u{1F}", 0), ("\u{9B}", 0),
      ("\u{301}", 0), ("\u{200D}", 0), ("\u{202E}", 0), ("\u{2028}", 0), ("\u{2029}", 0),
      ("\u{E000}", 0), ("\u{378}", 0), ("\u{20DD}", 0), ("\u{903}", 0), ("日", 2), ("か", 2),
      ("한", 2), ("Ａ", 2), ("￥", 2), ("🏒", 2), ("⌚", 2), ("…", 1), ("●", 1), ("–", 1),
      ("\u{1100}", 2), ("\u{115F}", 2), ("\u{1160}", 1), ("\u{303E}", 2), ("\u{303F}", 1),
      ("\u{3041}", 2), ("\u{FF60}", 2), ("\u{FF61}", 1), ("\u{20000}", 2), ("\u{2E80}", 2),
      ("\u{A4CF}", 0), ("\u{FE30}", 2), ("\u{1F000}", 2),
    ] as [(Unicode.Scalar, Int)])
  func `a character has one column, two if it is wide, and none if it must not be written`(
    scalar: Unicode.Scalar, columns: Int
  ) {
    #expect(TextWidth.columns(of: scalar) == columns)
    #expect(TextWidth.columns(of: "x\(scalar)x") == columns + 2)
  }

  @Test(arguments: [
    ("Maya", 4, "Maya"), ("Maya", 3, "Ma…"), ("Maya", 1, "…"), ("Maya", 0, ""), ("Maya", -3, ""),
    ("日本語", 6, "日本語"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("日本語", 3, "日…"),
    ("日本語", 2, "…"), ("", 0, ""), ("e\u{301}e\u{301}e\u{301}", 3, "e\u{301}e\u{301}e\u{301}"),
    ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
  ])
  func `a text that is too wide is cut, and an ellipsis marks the cut`(
    text: String, limit: Int, fitting: String
  ) {
    #expect(TextWidth.fitting(text, limit) == fitting)
    #expect(TextWidth.columns(of: TextWidth.fitting(text, limit)) <= max(0, limit))
  }

  @Test func `what cannot be displayed is removed from a log or escaped on a line`() {
    let text = "a\u{E000}b\u{378}c\u{200B}d\u{2029}e\u{200C}f"
    #expect(TextWidth.plain(text) == "a\u{E000}b\u{378}cdef")
    #expect(
      TextWidth.escaped(text) == #"a\u{E000}b\u{378}c\u{200B}d\u{2029}e"# + "\u{200C}f")
    #expect(TextWidth.escaped("\u{0}\u{FEFF}") == #"\u{0}\u{FEFF}"#)
  }

  private let ink = Color(1, 2, 3)
  private let paper = Color(9, 8, 7)

  private func write(_ text: String, column: Int, row: Int = 0) -> Screen {
    var screen = Screen(columns: 6, rows: 2, filledWith: paper)
    screen.write(text, column: column, row: row, ink)
    return screen
  }

  @Test func `text starts at its column, and ends with the row`() {
    #expect(write("ab", column: 1).text == " ab\n")
    #expect(write("abcdefgh", column: 2).text == "  abcd\n")
    #expect(write("abcdefgh", column: -3).text == "defgh\n")
    #expect(write("a\u{1B}\u{301}b", column: 0, row: 1).text == "\nab")
    for row in [-1, 2] { #expect(write("ab", column: 0, row: row).text == "\n") }
    #expect(write("日本日", column: 1).text == " 日本\n" && write("日", column: 5).text == "\n")
    let wide = write("日", column: 2)
    #expect(wide[2, 0] == Cell("日", ink, on: paper) && wide[3, 0] == Cell("\0", ink, on: paper))
    #expect(wide[4, 0] == Cell(" ", paper, on: paper))
    // Half of a wide character is not written.
    #expect(write("日本", column: -1).text == " 本\n")
  }

  @Test func `text keeps the background, or has its own`() {
    var screen = Screen(columns: 6, rows: 1, filledWith: paper)
    screen[0, 0] = Cell(Cell.halfBlock, Color(100, 0, 0), on: Color(0, 100, 50))
    screen.write("abc", column: 0, row: 0, ink, isBold: true)
    #expect(screen[0, 0] == Cell("a", ink, on: Color(50, 50, 25), isBold: true))
    #expect(screen[1, 0] == Cell("b", ink, on: paper, isBold: true))
    screen.write("x", column: 2, row: 0, ink, on: Color(4, 5, 6))
    #expect(screen[2, 0] == Cell("x", ink, on: Color(4, 5, 6)))
  }

  @Test func `text is centered in its columns, to the left if it does not fit evenly`() {
    for (text, range, line) in [
      ("ab", 0..<6, "  ab"), ("abc", 0..<6, " abc"), ("ab", 2..<6, "   ab"), ("日", 0..<6, "  日"),
      ("abcdefgh", 0..<6, "bcdefg"),
    ] {
      var screen = Screen(columns: 6, rows: 1)
      screen.writeCentered(text, in: range, row: 0, ink)
      #expect(screen.text == line)
    }
  }

  @Test func `two pixels fill a cell, and two equal ones a blank`() {
    var canvas = Canvas(width: 2, height: 5, filledWith: paper)
    canvas[1, 2] = ink
    let screen = Screen(canvas)
    #expect(screen.columns == 2 && screen.rows == 2)
    #expect(screen[0, 0] == Cell(" ", paper, on: paper))
    #expect(screen[1, 1] == Cell(Cell.halfBlock, ink, on: paper))
    #expect(screen.text == "\n ▀")
  }

  @Test func `a blend covers the pixels whose centers are in reach, and no others`() {
    var canvas = Canvas(width: 5, height: 4, filledWith: Color(0, 0, 0))
    canvas.paint(from: Vector(1, 1), to: Vector(3, 2), Color(255, 0, 0)) { _ in 1 }
    let red = (0..<4).map { y in (0..<5).filter { canvas[$0, y].red == 255 } }
    #expect(red == [[], [1, 2], [], []])
    canvas.paint(from: Vector(-9, 2.5), to: Vector(0.25, 99), Color(0, 255, 0)) { _ in 0.5 }
    #expect((0..<4).map { canvas[0, $0].green } == [0, 0, 127, 127])
    #expect(canvas[1, 3].green == 0)
    canvas.paint(from: Vector(.nan, 0), to: Vector(5, 4), Color(0, 0, 255)) { _ in 1 }
    canvas.paint(from: Vector(3, 3), to: Vector(1, 1), Color(0, 0, 255)) { _ in 1 }
    #expect((0..<20).allSatisfy { canvas[$0 % 5, $0 / 5].blue == 0 })
    var round = Canvas(width: 5, height: 5, filledWith: Color(0, 0, 0))
    round.paintRound(Vector(2.5, 2.5), reach: 2, Color(255, 255, 255)) { edge($0 - 1.5) }
    #expect(round[2, 2].red == 255 && round[2, 1].red == 255 && round[4, 2].red == 0)
    #expect(round[1, 1].red > 100 && round[1, 1].red < 200 && round[0, 0].red == 0)
    #expect([-1, -0.5, 0, 0.25, 0.5, 2].map(edge) == [1, 1, 0.5, 0.25, 0, 0])
  }

  @Test(
    arguments: [
      (0x000000, 16), (0xFFFFFF, 231), (0xFF0000, 196), (0x00FF00, 46), (0x0000FF, 21),
      (0x808080, 244), (0x080808, 232), (0xEEEEEE, 255), (0x5F87AF, 67), (0x2F2F2F, 236),
      (0x720000, 52), (0x730000, 88), (0xD7AF5F, 179),
    ] as [(UInt32, UInt8)])
  func `a color is shown as the nearest of xterm's 256`(hex: UInt32, index: UInt8) {
    #expect(Color(hex: hex).paletteIndex == index)
  }

  @Test func `colors are mixed in 256 steps, and their brightness is that of BT 601`() {
    let (black, white) = (Color(0, 0, 0), Color(255, 255, 255))
    #expect(
      [-1, 0, 0.5, 1, 2].map { black.mixed(with: white, $0).green } == [0, 0, 127, 255, 255])
    #expect(Color(10, 20, 30).mixed(with: Color(50, 100, 150), 0.25) == Color(20, 40, 60))
    #expect(Color(hex: 0x0A141E) == Color(10, 20, 30))
    #expect(Color(255, 0, 0).brightness == 76 && Color(0, 255, 0).brightness == 149)
    #expect(Color(0, 0, 255).brightness == 29 && white.brightness == 255)
  }
}
