import AirHockey
import CaromPhysics
import CaromSimulation
import Testing

@testable import AirHockeyTerminal

@Suite struct PictureTests {
  private static func hash(_ screen: Screen) -> UInt64 {
    var hash = StateHash()
    func bits(_ color: Color) -> UInt64 {
      UInt64(color.red) << 16 | UInt64(color.green) << 8 | UInt64(color.blue)
    }
    for cell in screen.cells {
      hash.combine(UInt64(cell.glyph.value) << 1 | (cell.isBold ? 1 : 0))
      hash.combine(bits(cell.foreground) << 24 | bits(cell.background))
    }
    return hash.value
  }

  private static func makeView() -> TableView {
    var view = TableView(
      left: .init(name: "Maya", score: 3, mallet: Vector(-0.6, -0.1)),
      right: .init(name: "Leo", score: 2, mallet: Vector(0.7, 0.1)), puck: Vector(0.2, 0.25))
    view.trail = [Vector(0.1, 0.2), Vector(-0.1, 0.1), Vector(-0.1, 0.1), Vector(-0.4, -0.3)]
    view.status = "60 Hz"
    view.hint = "q quit"
    return view
  }

  /// The hash of all cells. After a deliberate change of the painting, look at the picture and
  /// write the new values here.
  @Test(
    arguments: [
      (40, 12, 3_298_912_875_966_917_658), (80, 24, 11_527_269_365_770_175_700),
      (150, 45, 5_219_477_469_501_307_811), (200, 30, 10_822_848_876_094_997_183),
    ] as [(Int, Int, UInt64)])
  func `a table in full color has the expected pixels`(columns: Int, rows: Int, hash: UInt64) {
    var painter = TablePainter()
    let first = painter.paint(Self.makeView(), columns: columns, rows: rows)
    #expect(Self.hash(first) == hash)
    // The picture of the empty table is used again, and not painted over.
    var other = Self.makeView()
    other.puck = nil
    _ = painter.paint(other, columns: columns, rows: rows)
    _ = painter.paint(other, columns: 41, rows: 13)
    #expect(painter.paint(Self.makeView(), columns: columns, rows: rows) == first)
  }

  @Test(
    arguments: [
      (80, 24, .left, 1_964_851_169_296_879_923), (120, 40, .right, 8_500_355_208_338_986_043),
      (40, 12, nil, 14_792_536_964_551_243_114),
    ] as [(Int, Int, TableView.Side?, UInt64)])
  func `a flash and a banner have the expected pixels`(
    columns: Int, rows: Int, side: TableView.Side?, hash: UInt64
  ) {
    var painter = TablePainter()
    var view = Self.makeView()
    view.flash = side.map { ($0, 0.75) }
    view.banner = .init("Goal!", detail: "Maya · 3 – 2", side: side)
    #expect(Self.hash(painter.paint(view, columns: columns, rows: rows)) == hash)
  }

  @Test func `the lines around the table hold names, score, status and hint`() {
    var painter = TablePainter()
    var view = Self.makeView()
    var lines: [Substring] {
      painter.paint(view, columns: 60, rows: 14).text.split(separator: "\n")
    }
    #expect(lines.first == " ● Maya                    3 – 2                      Leo ●")
    #expect(lines.last == " 60 Hz                                               q quit")
    // The hint needs a gap after the status.
    view.status = String(repeating: "s", count: 50)
    view.status += "s"
    #expect(lines.last?.hasSuffix("  q quit") == true && lines.last?.contains("s") == false)
    view.isStatusWhole = true
    #expect(lines.last == " \(view.status)")
    view.isStatusWhole = false
    view.status = "60 Hz · udp · round trip 12.3 ms"
    view.hint = "mouse, arrows or WASD · p pause · q quit"
    #expect(lines.last == " 60 Hz · udp       mouse, arrows or WASD · p pause · q quit")
    view.status = String(repeating: "s", count: 80)
    view.status = ""
    view.hint = String(repeating: "h", count: 58)
    #expect(lines.last == " \(view.hint)")
    view.left.name = String(repeating: "日", count: 40)
    #expect(lines.first?.contains("日…") == true && lines.first?.hasSuffix("Leo ●") == true)
  }

  @Test func `a long title is written as text, a short one large`() {
    var painter = TablePainter()
    var view = Self.makeView()
    view.banner = .init("Goal!", detail: "detail", side: .left)
    var text = painter.paint(view, columns: 60, rows: 14).text
    #expect(!text.contains("Goal!") && text.contains("detail"))
    view.banner = .init("Waiting for somebody to play", detail: "detail")
    let screen = painter.paint(view, columns: 60, rows: 14)
    text = screen.text
    #expect(text.contains("Waiting for somebody to play") && text.contains("detail"))
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let title = lines.firstIndex { $0.contains("Waiting") }
    let detail = lines.firstIndex { $0.contains("detail") }
    #expect(title == 6 && detail == 7)
    #expect(screen.cells.filter { $0.glyph == "W" }.allSatisfy { $0.isBold })
  }

  @Test func `letters are five pixels wide, and lower case only where the font has it`() {
    #expect(PixelFont.columns(of: "") == 0 && PixelFont.columns(of: "A") == 5)
    #expect(PixelFont.columns(of: "AB") == 11)
    #expect(PixelFont.rows(of: "A") == [14, 17, 17, 31, 17, 17, 17])
    #expect(PixelFont.rows(of: "É") == [0, 0, 0, 0, 0, 0, 0])
    #expect(
      PixelFont.rows(of: "g").count == 8 && PixelFont.rows(of: "g") != PixelFont.rows(of: "G"))
    #expect(PixelFont.rows(of: "0") != PixelFont.rows(of: "O"))
    var canvas = Canvas(width: 13, height: 9, filledWith: Color(0, 0, 0))
    canvas.write("T-", around: Vector(6, 4), size: 1, Color(255, 255, 255), strength: 1)
    let picture = (0..<9).map { y in
      String((0..<13).map { canvas[$0, y].red == 255 ? "#" : "." })
    }
    #expect(
      picture == [
        ".............", ".#####.......", "...#.........", "...#.........", "...#....###..",
        "...#.........", "...#.........", "...#.........", ".............",
      ])
    canvas = Canvas(width: 13, height: 3, filledWith: Color(0, 0, 0))
    canvas.write(".", around: Vector(3, -4), size: 2, Color(255, 255, 255), strength: 0.5)
    // The dot is two by two of the font's pixels, each of them two pixels wide; one row is visible.
    #expect((0..<13).filter { canvas[$0, 0].red == 127 }.count == 2)
  }
}

@Suite struct BannerTests {
  private func makeView(_ phase: Phase, from seat: Seat = .home, pauses: Pauses = []) -> TableView {
    var state = RinkState()
    state.phase = phase
    state.pauses = pauses
    state.score = Score(home: 3, away: 1)
    return TableView(state, seenFrom: seat, names: (own: "Maya", other: "Leo"))
  }

  @Test func `a goal is announced for three quarters of its pause, and flashes to its end`() {
    for (remaining, hasBanner) in [(90, true), (23, true), (22, false), (1, false)]
      as [(UInt16, Bool)]
    {
      let view = makeView(.goalPause(scorer: .home, remaining: remaining))
      #expect((view.banner != nil) == hasBanner)
      #expect(view.flash?.side == .left && view.puck == nil)
      #expect(abs((view.flash?.strength ?? 0) - Double(remaining) / 90) < 1e-12)
    }
    let view = makeView(.goalPause(scorer: .home, remaining: 90), from: .away)
    #expect(view.banner == .init("Goal!", detail: "Leo · 1 – 3", side: .right))
  }

  @Test func `a foul names who kept the puck, in the color of who serves`() {
    for (seat, name, side) in [(Seat.home, "Maya", TableView.Side.right), (.away, "Leo", .left)] {
      let view = makeView(.foulPause(by: seat, remaining: 60))
      #expect(view.banner == .init("Foul", detail: "\(name) kept the puck too long", side: side))
      #expect(view.puck == nil && view.flash == nil)
    }
  }

  @Test func `the end of a match and a pause say which key goes on`() {
    #expect(
      makeView(.matchEnd(winner: .away)).banner
        == .init("Game over", detail: "Leo wins 3 – 1 · space for the next game", side: .right))
    #expect(makeView(.matchEnd(winner: .away)).puck == nil)
    for (pauses, seat, who) in [
      (.home, .home, "Maya"), (.away, .home, "Leo"), (.home, .away, "Leo"),
      ([.home, .away], .away, "both"),
    ] as [(Pauses, Seat, String)] {
      let view = makeView(.matchEnd(winner: .home), from: seat, pauses: pauses)
      #expect(view.banner == .init("Paused", detail: "held by \(who) · p to go on"))
    }
  }

  @Test func `while the puck is on the table there is no banner`() {
    for phase in [
      Phase.faceOff(remaining: 9), .serve(.home, remaining: 9), .playing(half: nil, remaining: 9),
    ] {
      let view = makeView(phase)
      #expect(view.banner == nil && view.flash == nil && view.puck == .zero)
      #expect(view[.left].name == "Maya" && view[.right].name == "Leo")
    }
    var view = makeView(.faceOff(remaining: 9))
    view.flash = (.right, 0.5)
    view.flash = nil
    #expect(view.flash == nil && view == makeView(.faceOff(remaining: 9)))
  }
}
