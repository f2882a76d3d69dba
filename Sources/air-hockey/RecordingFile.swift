import AirHockey
import CaromCore
import Foundation

/// A file that matches are recorded into as they are played; what cannot follow what stands there,
/// like a match at another table, goes into a file of its own beside it.
struct RecordingFile: Sendable {
  /// What was recorded, or was to be, in order.
  private(set) var paths: [String] = []
  private var file: FileHandle
  private var isNew: Bool
  private var recorder: MatchRecorder?
  private var written: UInt64 = 0
  private var isOpen = true
  private var trouble: String?

  /// Looks whether the file can be written; one that is there stays as it is until something is
  /// recorded.
  init(_ path: String) throws(CommandFailure) {
    (file, isNew) = try Self.open(path)
    paths = [path]
  }

  private static func open(_ path: String) throws(CommandFailure) -> (FileHandle, isNew: Bool) {
    let place = URL(filePath: path).resolvingSymlinksInPath().path
    let attributes = try? FileManager.default.attributesOfItem(atPath: place)
    if let type = attributes?[.type] as? FileAttributeType, type != .typeRegular {
      throw CommandFailure(.badFile, "\(path) is no regular file")
    }
    guard attributes != nil || FileManager.default.createFile(atPath: place, contents: nil),
      let file = FileHandle(forWritingAtPath: place)
    else { throw CommandFailure(.badFile, "\(path) cannot be written") }
    return (file, attributes == nil)
  }

  // MARK: Recording

  /// Adds what the host decided.
  mutating func record(_ match: HostedMatch) {
    guard isOpen else { return }
    if recorder == nil { recorder = MatchRecorder(match.state) }
    recorder?.record(match)
    write(recorder?.takeBytes())
  }

  /// Adds what a guest knows to be decided.
  mutating func record(_ match: JoinedMatch) {
    guard isOpen, let state = match.confirmed else { return }
    if recorder == nil { recorder = MatchRecorder(state, beginning: match.beginnings) }
    if recorder?.record(match) != true { beginAnother() }
    write(recorder?.takeBytes())
  }

  /// Adds a tick that was made here.
  mutating func record(home: RinkInput, away: RinkInput, leadingTo state: RinkState) {
    guard isOpen else { return }
    recorder?.append(home: home, away: away, leadingTo: state)
    write(recorder?.takeBytes())
  }

  /// Begins with a match that is made here.
  mutating func begin(_ state: RinkState) { recorder = MatchRecorder(state) }

  /// What comes next does not go on from what was recorded.
  mutating func beginAnother() {
    guard isOpen, recorder != nil else { return }
    finish()
    do throws(CommandFailure) {
      let path = freePath()
      (file, isNew) = try Self.open(path)
      paths.append(path)
      (recorder, written, isOpen) = (nil, 0, true)
    } catch { trouble = error.line }
  }

  /// The first of "match-2.crpl", "match-3.crpl" and so on that is not there.
  private func freePath() -> String {
    let first = URL(filePath: paths[0])
    let (stem, kind) = (first.deletingPathExtension().path, first.pathExtension)
    var number = paths.count + 1
    while true {
      let path = "\(stem)-\(number)" + (kind.isEmpty ? "" : ".\(kind)")
      if !FileManager.default.fileExists(atPath: path) { return path }
      number += 1
    }
  }

  // MARK: The end

  /// Writes the end. A file that was made for nothing goes.
  mutating func finish() {
    guard isOpen else { return }
    write(recorder?.finish())
    isOpen = false
    try? file.close()
    if isNew, written == 0, let path = paths.last {
      try? FileManager.default.removeItem(atPath: path)
      if paths.count > 1 { paths.removeLast() }
    }
  }

  /// What went wrong, to be told once.
  mutating func takeTrouble() -> String? {
    defer { trouble = nil }
    return trouble
  }

  private mutating func write(_ bytes: [UInt8]?) {
    guard isOpen, let bytes, !bytes.isEmpty else { return }
    do {
      if written == 0 { try file.truncate(atOffset: 0) }
      try file.write(contentsOf: Data(bytes))
      written += UInt64(bytes.count)
    } catch {
      trouble = "\(paths.last ?? "") cannot be written any more: the recording ends here"
      // What stands there is whole blocks, and can be played.
      try? file.truncate(atOffset: written)
      try? file.close()
      isOpen = false
    }
  }
}
