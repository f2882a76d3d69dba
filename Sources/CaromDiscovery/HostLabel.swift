/// The host's name as one label of ASCII letters, digits and hyphens.
enum HostLabel {
  /// The first label of `hostName`, with hyphens for what may not stand in it.
  static func make(from hostName: String) -> String {
    let first = hostName.split(separator: ".").first ?? ""
    let allowed = first.prefix(63).map { character in
      character.isASCII && (character.isLetter || character.isNumber) ? character : "-"
    }
    let trimmed = String(allowed).split(separator: "-").joined(separator: "-")
    return trimmed.isEmpty ? "host" : trimmed
  }
}
