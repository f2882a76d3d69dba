/// The colors with which the game is painted.
enum Palette {
  static let backdrop = Color(hex: 0x080A12)
  static let rail = Color(hex: 0x424E78)
  static let railLight = Color(hex: 0x8593C4)
  static let railDark = Color(hex: 0x161B2E)
  static let fieldMiddle = Color(hex: 0x16244A)
  static let fieldEdge = Color(hex: 0x0C1530)
  static let line = Color(hex: 0x5E86D6)
  static let puck = Color(hex: 0xFFF3D0)
  static let trail = Color(hex: 0xFFC861)
  static let left = Color(hex: 0x37C8FF)
  static let right = Color(hex: 0xFF6B57)
  static let text = Color(hex: 0xE6ECFF)
  static let dim = Color(hex: 0x7C88AD)
  static let black = Color(0, 0, 0)
  static let white = Color(255, 255, 255)

  static func player(_ side: TableView.Side?) -> Color {
    switch side {
    case .left: left
    case .right: right
    case nil: text
    }
  }
}
