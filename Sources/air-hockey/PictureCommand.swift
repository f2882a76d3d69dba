import AirHockeyTerminal
import ArgumentParser
import CaromPhysics
import Foundation

/// Draws the picture in the README: a match as the terminal shows it.
struct PictureCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "picture", abstract: "Write a picture of the game in the terminal (PPM).",
    shouldDisplay: false)

  @Argument(help: "The file to write.") var file: String
  @Option(help: "The number of columns of the terminal.") var columns = 132
  @Option(help: "The number of rows of the terminal.") var rows = 40
  @Flag(help: "Draw a goal with its banner.") var goal = false
  @Option(help: "Draw a table that waits, with this address as a QR code.") var address: String?

  func run() throws {
    var painter = TablePainter()
    var scene = Self.scene(goal: goal)
    if let address {
      scene.banner = .init("Waiting", detail: address)
      scene.code = GamePage.makeCode(of: address)
    }
    let screen = painter.paint(scene, columns: columns, rows: rows)
    try Data(Picture.ppm(screen)).write(to: URL(filePath: file))
  }

  /// Returns the view of a shot by the left player that has bounced off the lower rail towards the
  /// right goal. If `goal` is true, the view also has the banner of a goal.
  static func scene(goal: Bool) -> TableView {
    let (mallet, rail, puck) = (Vector(-0.70, -0.20), Vector(-0.16, -0.487), Vector(0.36, -0.21))
    var view = TableView(
      left: .init(name: "Maya", score: 3, mallet: mallet),
      right: .init(name: "Leo", score: 2, mallet: Vector(0.74, 0.06)), puck: puck)
    view.trail = points(from: puck, to: rail, count: 6) + points(from: rail, to: mallet, count: 5)
    view.status = "60 Hz · round trip 0.4 ms"
    view.hint = "mouse, arrows or WASD · p pause · q quit"
    if goal {
      view.flash = (.left, 0.8)
      view.banner = .init("Goal!", detail: "Maya · 3 – 2", side: .left)
    }
    return view
  }

  private static func points(from start: Vector, to end: Vector, count: Int) -> [Vector] {
    (1...count).map { start + (end - start) * (Double($0) / Double(count)) }
  }
}
