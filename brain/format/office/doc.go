// Package office reads documents as office programs write them: Word, PowerPoint and
// Excel, OpenDocument, EPUB, RTF and PDF. Recognize tells which of them a ZIP archive is.
package office
