import AirHockey
import CaromSimulation
import Foundation

/// A file into which matches are recorded while they are played. A match that does not continue the
/// recorded one, such as a match with a different host, is recorded into a new file next to it.
struct RecordingFile: Sendable {
  /// The paths of the files, in the order in which they were opened.
  private(set) var paths: [String] = []
  private var file: FileHandle
  private var isNew: Bool
  private var recorder: MatchRecorder?
  private var written: UInt64 = 0
  private var isOpen = true
  private var trouble: String?

  /// Creates a recording in the file at `path`. An existing file is not changed until a tick is
  /// recorded. Throws if the file cannot be written.
  init(_ path: String) throws(CommandFailure) {
    (file, isNew) = try Self.open(path)
    paths = [path]
  }

  private static func open(_ path: String) throws(CommandFailure) -> (FileHandle, isNew: Bool) {
    let resolved = URL(filePath: path).resolvingSymlinksInPath().path
    let attributes = try? FileManager.default.attributesOfItem(atPath: resolved)
    if let type = attributes?[.type] as? FileAttributeType, type != .typeRegular {
      throw CommandFailure(.ioFailed, "\(path) is not a regular file")
    }
    guard attributes != nil || FileManager.default.createFile(atPath: resolved, contents: nil),
      let file = FileHandle(forWritingAtPath: resolved)
    else { throw CommandFailure(.ioFailed, "\(path) cannot be written") }
    return (file, attributes == nil)
  }

  // MARK: Recording

  /// Records the ticks that the host has simulated since the previous call.
  mutating func record(_ server: RollbackServer<Rink>) {
    guard isOpen else { return }
    if recorder == nil { recorder = MatchRecorder(server.state.state) }
    recorder?.record(server)
    write(recorder?.takeBytes())
  }

  /// Records the ticks that have been confirmed on a client since the previous call.
  mutating func record(_ client: RollbackClient<Rink>) {
    guard isOpen, let state = client.confirmedState?.state else { return }
    if recorder == nil { recorder = MatchRecorder(state, keyframeCount: client.keyframeCount) }
    if recorder?.record(client) != true { beginNextFile() }
    write(recorder?.takeBytes())
  }

  /// Records one tick of a match that is played without a network.
  mutating func record(home: RinkInput, away: RinkInput, leadingTo state: RinkState) {
    guard isOpen else { return }
    recorder?.append(home: home, away: away, leadingTo: state)
    write(recorder?.takeBytes())
  }

  /// Begins to record a match that is played without a network.
  mutating func begin(_ state: RinkState) { recorder = MatchRecorder(state) }

  /// Ends the current recording, if there is one, and opens a new file for the next match.
  mutating func beginNextFile() {
    guard isOpen, recorder != nil else { return }
    finish()
    do throws(CommandFailure) {
      let path = freePath()
      (file, isNew) = try Self.open(path)
      paths.append(path)
      (recorder, written, isOpen) = (nil, 0, true)
    } catch { trouble = error.line }
  }

  /// Returns the first of "match-2.crpl", "match-3.crpl" and so on that does not exist.
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

  /// Ends the recording. A file that was created but not written to is deleted.
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

  /// Returns the last error as a line of text, or nil if there has been none since the previous
  /// call.
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
      trouble =
        "\(paths.last ?? "") can no longer be written: the recording ends; check the free space"
      // The file then ends with a complete block and can still be replayed.
      try? file.truncate(atOffset: written)
      try? file.close()
      isOpen = false
    }
  }
}
