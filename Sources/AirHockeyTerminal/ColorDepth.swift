/// How many colours a terminal is given.
package enum ColorDepth: Hashable, Sendable {
  /// None: bright pixels are blocks, dark ones blanks.
  case none
  /// The 256 of xterm.
  case palette
  /// 24 bits.
  case full

  /// What the environment says of the terminal: `NO_COLOR`, `COLORTERM` and `TERM`.
  package init(environment: [String: String]) {
    let term = environment["TERM"] ?? ""
    let colorTerm = environment["COLORTERM"] ?? ""
    if !(environment["NO_COLOR"] ?? "").isEmpty || ["", "dumb", "vt100", "vt220"].contains(term) {
      self = .none
    } else if ["truecolor", "24bit"].contains(colorTerm) || Self.isFull(term) {
      self = .full
    } else {
      self = .palette
    }
  }

  private static func isFull(_ term: String) -> Bool {
    ["direct", "kitty", "ghostty", "alacritty", "foot", "wezterm"].contains { term.contains($0) }
  }
}
