import AirHockey
import CaromPhysics
import Testing

@testable import AirHockeyTerminal

struct TableViewTests {
  func makeState() -> RinkState {
    var state = RinkState()
    state.score = Score(home: 3, away: 1)
    state.phase = .playing(half: .home, remaining: 9)
    state.puck.position = LatticePoint(Vector(0.5, 0.25))
    return state
  }

  func makeView(_ state: RinkState, from seat: Seat = .home) -> TableView {
    TableView(state, seenFrom: seat, names: (own: "Maya", other: "Leo"))
  }

  @Test func `the viewer's side is on the left`() {
    let home = makeView(makeState())
    #expect((home.left.name, home.left.score, home.right.score) == ("Maya", 3, 1))
    #expect(home.puck == Vector(0.5, 0.25))
    #expect(home.left.mallet.x < 0)
    let away = makeView(makeState(), from: .away)
    #expect((away.left.name, away.left.score, away.right.score) == ("Maya", 1, 3))
    #expect(away.puck == Vector(-0.5, -0.25))
    #expect(away.left.mallet.x < 0)
  }

  @Test func `a goal flashes in the color of its scorer and names the scorer`() {
    var state = makeState()
    state.phase = .goalPause(scorer: .away, remaining: Preset.goalPauseTicks)
    let view = makeView(state)
    #expect(view.flash?.side == .right)
    #expect(view.flash?.strength == 1)
    #expect(view.banner == .init("Goal!", detail: "Leo · 3 – 1", side: .right))
    #expect(makeView(state, from: .away).flash?.side == .left)
    #expect(view.puck == nil)
  }

  @Test func `the banner of a pause names the player who paused`() {
    var state = makeState()
    state.pauses = .away
    #expect(makeView(state).banner?.detail.contains("Leo") == true)
    state.pauses = [.home, .away]
    #expect(makeView(state).banner?.detail.contains("both") == true)
    state.pauses = []
    #expect(makeView(state).banner == nil)
  }

  @Test func `the end of a match names the winner`() {
    var state = makeState()
    state.phase = .matchEnd(winner: .home)
    #expect(makeView(state).banner?.side == .left)
    #expect(makeView(state).banner?.detail.contains("Maya wins 3 – 1") == true)
  }

  @Test func `a picture has the pixels of its screen`() {
    var painter = TablePainter()
    let screen = painter.paint(makeView(makeState()), columns: 40, rows: 12)
    let bytes = Picture.ppm(screen)
    let head = Array("P6\n480 288\n255\n".utf8)
    #expect(bytes.starts(with: head))
    #expect(bytes.count == head.count + 3 * 480 * 288)
    // A cell is 12 pixels wide and 24 high, and a half block has two colors.
    for (index, cell) in screen.cells.enumerated()
    where cell.glyph == Cell.halfBlock || cell.glyph == " " {
      let (x, y) = (index % 40 * 12 + 5, index / 40 * 24)
      let colors = [11, 12].map { row in
        let start = head.count + 3 * ((y + row) * 480 + x)
        return Color(bytes[start], bytes[start + 1], bytes[start + 2])
      }
      let upper = cell.glyph == Cell.halfBlock ? cell.foreground : cell.background
      #expect(colors == [upper, cell.background])
    }
  }
}
