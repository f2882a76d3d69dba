/// The number of colors that are sent to a terminal.
package enum ColorDepth: Hashable, Sendable {
  /// No colors. Bright pixels become blocks, and dark pixels become blanks.
  case none
  /// The 256 colors of xterm.
  case palette
  /// 24-bit colors.
  case full

  /// Creates the depth that the environment variables `NO_COLOR`, `COLORTERM` and `TERM` indicate.
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
