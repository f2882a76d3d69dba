import Testing

import TerminalText

struct TextWidthTests {
  @Test func `a line of a log contains no characters that control a terminal`() {
    let hostile = "\u{1B}[2J\u{1B}]0;x\u{07}a\nb\r\u{9B}31m\u{202E}c\u{2028}d\u{7F}"
    #expect(TextWidth.plain(hostile) == "[2J]0;xab31mcd")
  }

  @Test(arguments: ["Zoë", "e\u{301}", "हिन्दी", "日本", "🏒 Maya's table"])
  func `names of people stay as they are`(name: String) {
    #expect(TextWidth.plain(name) == name)
    #expect(TextWidth.escaped(name) == name)
  }

  @Test func `characters that control a terminal can be displayed escaped`() {
    let hostile = "a\u{1B}[2J\n\u{9B}\u{202E}\u{2028}\u{7F}\\"
    #expect(
      TextWidth.escaped(hostile)
        == #"a\u{1B}[2J\u{A}\u{9B}\u{202E}\u{2028}\u{7F}\"#)
    #expect(TextWidth.escaped("👩\u{200D}🚀") == "👩\u{200D}🚀")
  }
}
