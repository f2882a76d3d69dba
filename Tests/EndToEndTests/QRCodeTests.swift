import AirHockeyTerminal
import Foundation
import Testing

@testable import air_hockey

/// The QR code with which a phone opens the page of a table. ZBar reads it, as an app of a phone
/// would.
@Suite(.turns) struct QRCodeTests {
  private static let reader = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Lab/qr.py")
  private static let canRead =
    FileManager.default.contents(atPath: "/usr/bin/python3") != nil
    && (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/python3/dist-packages"))?
      .contains { $0.hasPrefix("zbar.") } == true
  private static let need: Comment = "reading QR codes needs python3-zbar"

  /// Returns the texts of the codes in a picture, or in lines of text.
  private static func read(_ picture: Data) async throws -> [String] {
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).ppm")
    try picture.write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let process = try RunningProcess(
      URL(filePath: "/bin/sh"), ["-c", "\"$0\" < \"$1\"", reader.path, file.path])
    return await process.output.all()
  }

  @Test(
    .enabled(if: canRead, need),
    arguments: [
      (80, 24, "http://192.168.1.5:7777/"), (40, 20, "http://10.0.0.1:1/"),
      (132, 40, "http://[fe80::1234:5678:9abc:def0]:65535/a/longer/page?of=a+game#K7QM2XRT"),
    ])
  func `a code on the screen of a terminal is read`(
    columns: Int, rows: Int, address: String
  ) async throws {
    var scene = PictureCommand.scene(goal: false)
    scene.banner = .init("Waiting", detail: address)
    scene.code = GamePage.makeCode(of: address)
    var painter = TablePainter()
    let screen = painter.paint(scene, columns: columns, rows: rows)
    #expect(try await Self.read(Data(Picture.ppm(screen))) == [address])
  }

  @Test func `a text that is too long has no code, and the next text has one`() {
    #expect(GamePage.makeCode(of: "") == nil)
    #expect(GamePage.makeCode(of: String(repeating: "x", count: 2_332)) == nil)
    #expect(GamePage.makeCode(of: String(repeating: "x", count: 2_331))?.size == 177)
    #expect(GamePage.makeCode(of: "http://192.168.1.5:7777/")?.size == 25)
  }

  @Test(.enabled(if: canRead, need))
  func `a host that is not on a terminal writes the code as text`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "carom-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data("<!doctype html>".utf8).write(to: folder.appending(path: "index.html"))
    let host = try RunningGame([
      "host", "--unlisted", "--interface", "lo", "--bot", "--browser", "--security", "none",
      "--page", folder.path,
    ])
    let notice = await host.process.output.line { $0.contains("in a browser ") }
    let address = try #require(notice?.split(separator: " ").last.map(String.init))
    _ = await host.process.output.line(33) { $0.isEmpty || $0.contains("##") }
    await host.process.end()
    let lines = await host.process.output.all().filter { $0.isEmpty || $0.contains("##") }
    let text = Data(lines.joined(separator: "\n").utf8)
    #expect(try await Self.read(text) == [address])
  }
}
