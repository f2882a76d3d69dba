/// The version of Carom. The changelog has a section for each released version.
package enum ProjectVersion {
  /// The version as its programs print it.
  package static let text = "0.2.0"
}
