/// Words that need a reason, or have no place at all.
enum WordRule {
  /// Where memory-unsafe code may stand: at the edges to C and in their tests, in measurements, and
  /// here as a word.
  static let unsafeFolders = [
    "Sources/CaromTransport/", "Tests/CaromTransportTests/", "Sources/CaromCrypto/Primitives/",
    "Tests/WebRuntimeTests/", "Tests/TestTLS/", "Benchmarks/", "Tests/TidyTests/", "Tests/Fuzz/",
    // The page writes to the engine's memory, reads it, and calls on one thread.
    "Sources/WebEngine/SharedBuffer.swift", "Sources/WebEngine/Exports.swift",
    "Sources/WebGame/Exports.swift", "Sources/AirHockeyEngine/Exports.swift",
    // Foundation's streams read and write through pointers.
    "Sources/MultipeerConnectivity/PeerInputStream.swift",
    "Sources/MultipeerConnectivity/PeerOutputStream.swift",
  ]
  static let unsafeWords = ["unsafe", "Unsafe"]

  /// Written in halves, so that this file does not accuse itself.
  static let postponed = ["TO" + "DO", "FIX" + "ME"]
  static let unchecked = "@unchecked" + " Sendable"

  static func violations(in file: SourceFile) -> [String] {
    let words = unsafeWords + postponed + [unchecked]
    guard words.contains(where: file.mentions) else { return [] }
    return file.lines.indices.flatMap { index in
      unsafeCode(file, index) + postponedWork(file, index) + uncheckedSendable(file, index)
    }
  }

  private static func unsafeCode(_ file: SourceFile, _ index: Int) -> [String] {
    guard file.path.hasSuffix(".swift"), !unsafeFolders.contains(where: file.path.hasPrefix),
      unsafeWords.contains(where: file.code(index).contains)
    else { return [] }
    return [file.complaint(index, "memory-unsafe code away from the edge to C")]
  }

  private static func postponedWork(_ file: SourceFile, _ index: Int) -> [String] {
    guard let word = postponed.first(where: file.lines[index].contains) else { return [] }
    return [file.complaint(index, "a \(word) stands in for work")]
  }

  private static func uncheckedSendable(_ file: SourceFile, _ index: Int) -> [String] {
    guard file.code(index).contains(unchecked) else { return [] }
    let above = index > 0 ? file.lines[index - 1] : ""
    let reasoned = file.lines[index].contains("//") || above.contains("//")
    return reasoned ? [] : [file.complaint(index, "\(unchecked) without its reason beside it")]
  }
}
