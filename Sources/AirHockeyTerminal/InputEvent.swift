/// What a terminal tells a program that reads it.
package enum InputEvent: Hashable, Sendable {
  /// A key, with what happened to it.
  case key(KeyPress)
  /// The pointer is over a place, counted from 0: a cell, or a pixel after `reportsPixels`.
  case pointer(x: Int, y: Int, action: PointerAction)
  /// The window got the focus, or lost it; what is held down then is never released.
  case focus(Bool)
  /// The terminal tells releases of keys too.
  case reportsReleases
  /// The terminal tells the pointer's place in pixels.
  case reportsPixels

  /// What the pointer did.
  package enum PointerAction: Hashable, Sendable { case moved, pressed, released }
}

/// A key and what happened to it.
package struct KeyPress: Hashable, Sendable {
  /// A key, by what it stands for.
  package enum Key: Hashable, Sendable {
    case character(Unicode.Scalar)
    case up, down, left, right
    case escape, enter, tab, backspace
  }

  /// What happened to it. Terminals without the keyboard protocol tell presses alone, and a key
  /// held down presses again and again.
  package enum Action: Hashable, Sendable { case pressed, repeated, released }

  /// Which key; letters are small.
  package var key: Key
  /// What happened to it.
  package var action: Action
  /// Whether the control key was down.
  package var control: Bool

  /// A key press, or what `action` says.
  package init(_ key: Key, _ action: Action = .pressed, control: Bool = false) {
    self.key = key
    self.action = action
    self.control = control
  }
}
