import AirHockey
import CaromPhysics
import Testing

@testable import AirHockeyTerminal

struct TablePainterTests {
  func makeView() -> TableView {
    TableView(
      left: .init(name: "Maya", score: 3, mallet: Vector(-0.6, -0.1)),
      right: .init(name: "Leo", score: 2, mallet: Vector(0.7, 0.1)), puck: Vector(0.2, 0.25))
  }

  /// The screen as a terminal without colors shows it.
  func plain(_ screen: Screen) -> [String] {
    (0..<screen.rows).map { row in
      let line = (0..<screen.columns).map { EncodedCell(screen[$0, row], .none).glyph }
      return String(String.UnicodeScalarView(line))
    }
  }

  @Test func `a small table is drawn as expected`() {
    var painter = TablePainter()
    var view = makeView()
    view.status = "60 Hz"
    view.hint = "q quit"
    let picture = plain(painter.paint(view, columns: 40, rows: 12))
    #expect(
      picture == [
        " ● Maya          3 – 2            Leo ● ",
        "  ▄▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▄  ",
        "  █                                  █  ",
        "  █                 ▄ ███            █  ",
        "  █▄ ▀▄           ▄▄█▄█▀▀      ▄█▄▀ ▄█  ",
        "  ██   ▄         █ ▄▄ █       ▀██▀  ██  ",
        "  ██   ▀███      █ ▀▀ █             ██  ",
        "  █▀ ▄▀ ▀█▀       ▀▀▀▀           ▀▄ ▀█  ",
        "  █                                  █  ",
        "  █                                  █  ",
        "  ▀▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▀  ",
        " 60 Hz                           q quit ",
      ])
  }

  @Test func `names from the network cannot move the cursor`() {
    var painter = TablePainter()
    var view = makeView()
    view.left.name = "\u{1B}[2J\u{7}\u{202E}A\nB" + String(repeating: "x", count: 200)
    let screen = painter.paint(view, columns: 40, rows: 12)
    #expect(screen.text.hasPrefix(" ● [2JABxxxx"))
    #expect(screen.text.contains("3 – 2"))
    #expect(screen.text.contains("Leo ●"))
    let scalars = screen.cells.map(\.glyph).filter { $0 != Cell.tail }
    #expect(scalars.allSatisfy { TextWidth.columns(of: $0) > 0 })
  }

  @Test(arguments: [(1, 1), (10, 3), (39, 12), (40, 11), (400, 4)])
  func `a screen that is too small says so`(columns: Int, rows: Int) {
    var painter = TablePainter()
    let screen = painter.paint(makeView(), columns: columns, rows: rows)
    #expect((screen.columns, screen.rows) == (columns, rows))
    if columns > 32, rows > 3 { #expect(screen.text.contains("too small")) }
  }

  @Test(arguments: [(40, 12), (41, 13), (80, 24), (81, 60), (200, 12), (213, 57)])
  func `a table of any other size fits, with banners and goals`(columns: Int, rows: Int) {
    var painter = TablePainter()
    var view = makeView()
    view.trail = [Vector(0.1, 0.2), Vector(-0.9, 0.5), Vector(-0.9, 0.5)]
    view.flash = (.right, 1)
    view.banner = .init("Waiting for a player", detail: "as Maya's table")
    let screen = painter.paint(view, columns: columns, rows: rows)
    #expect((screen.columns, screen.rows) == (columns, rows))
    #expect(screen.text.contains("Maya's table"))
  }

  @Test func `the table is centered with square pixels, and its positions are mapped back`() throws
  {
    let layout = try #require(Layout(columns: 80, rows: 24))
    #expect(layout.pixel(.zero) == Vector(40, 24))
    let corner = layout.pixel(Vector(Preset.halfLength, -Preset.halfWidth))
    #expect(corner.x < 80 && corner.y < 46)
    #expect(abs((corner.x - 40) / (corner.y - 24) - 0.974 / 0.519) < 1e-9)
    #expect((layout.place(corner) - Vector(0.974, -0.519)).length < 1e-12)
  }
}
