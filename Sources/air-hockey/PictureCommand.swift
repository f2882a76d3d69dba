import AirHockeyTerminal
import ArgumentParser
import CaromPhysics
import Foundation

/// Draws the README's picture: a moment of a match, as the terminal shows it.
struct PictureCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "picture", abstract: "Write a picture of the terminal face (PPM).",
    shouldDisplay: false)

  @Argument(help: "The file to write.") var file: String
  @Option(help: "Columns of the terminal.") var columns = 150
  @Option(help: "Rows of the terminal.") var rows = 45
  @Flag(help: "A goal, with its banner.") var goal = false

  func run() throws {
    var painter = TablePainter()
    let screen = painter.paint(Self.scene(goal: goal), columns: columns, rows: rows)
    try Data(Picture.ppm(screen)).write(to: URL(filePath: file))
  }

  static func scene(goal: Bool) -> TableView {
    let puck = Vector(0.31, 0.22)
    var view = TableView(
      left: .init(name: "Maya", score: 3, mallet: Vector(-0.62, -0.11)),
      right: .init(name: "Leo", score: 2, mallet: Vector(0.66, 0.08)), puck: puck)
    // From the left mallet over the lower rail: straight lines, a tenth of a second old.
    let corner = Vector(-0.02, -0.487)
    view.trail = (1...12).map { age in
      let back = Double(age) / 9
      return back < 1
        ? puck + (corner - puck) * back : corner + (Vector(-0.3, 0.1) - corner) * (back - 1)
    }
    view.status = "60 Hz · round trip 0.4 ms"
    view.hint = "mouse or arrows move · p pause · q quit"
    if goal {
      view.flash = (.left, 0.8)
      view.banner = .init("Goal!", detail: "Maya leads 3 – 2", side: .left)
    }
    return view
  }
}
