import AirHockey
import CaromPhysics
import Testing

@testable import AirHockeyTerminal

@Suite struct QRCodeTests {
  /// Not a code that means anything: the modules of both diagonals are dark.
  private static let code = QRCode("", size: 5) { $0 == $1 || $0 + $1 == 4 }

  private static func makeView(code: QRCode?) -> TableView {
    var view = TableView(
      left: .init(name: "Maya", score: 0, mallet: Vector(-0.6, 0)),
      right: .init(name: "", score: 0, mallet: Vector(0.7, 0)), puck: nil)
    view.banner = .init("Waiting", detail: "port 7777")
    view.code = code
    return view
  }

  @Test func `as text, a dark module is two signs, and the margin is blank`() {
    let margin = String(repeating: " ", count: 8)
    #expect(
      Self.code.lines == ["", "", "", ""] + [
        margin + "##      ##", margin + "  ##  ##", margin + "    ##", margin + "  ##  ##",
        margin + "##      ##",
      ] + ["", "", "", ""])
    #expect(!Self.code[-1, 0] && !Self.code[0, 5] && Self.code[4, 0] && !Self.code[1, 0])
  }

  @Test func `the code is in the middle, black on white, with its margin, above the text`() {
    var painter = TablePainter()
    // The smallest screen for it: 13 modules with the margin are 7 rows of cells.
    let screen = painter.paint(Self.makeView(code: Self.code), columns: 40, rows: 12)
    let left = (40 - 13) / 2
    for y in 0..<14 {
      for x in 0..<13 {
        let cell = screen[left + x, 2 + y / 2]
        let color = y % 2 == 0 ? cell.foreground : cell.background
        #expect(color == (Self.code[x - 4, y - 4] ? Palette.black : Palette.white))
      }
    }
    #expect(screen[left - 1, 5].foreground != Palette.white)
    #expect(screen[left + 13, 5].foreground != Palette.white)
    #expect(screen.text.contains("port 7777"))
  }

  @Test func `on a screen that is too small for the code, the title is written instead`() {
    let large = QRCode("", size: 25) { _, _ in false }
    var painter = TablePainter()
    let without = painter.paint(Self.makeView(code: nil), columns: 80, rows: 19)
    #expect(painter.paint(Self.makeView(code: large), columns: 80, rows: 19) == without)
    #expect(painter.paint(Self.makeView(code: large), columns: 80, rows: 20) != without)
    let narrow = painter.paint(Self.makeView(code: nil), columns: 40, rows: 12)
    let wide = QRCode("", size: 33) { _, _ in false }
    #expect(painter.paint(Self.makeView(code: wide), columns: 40, rows: 12) == narrow)
  }
}
