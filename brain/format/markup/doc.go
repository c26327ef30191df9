// Package markup reads texts with marks in them: HTML, Markdown and CSV. What it reads
// XML with (Walk), and the tables that it writes (Table, Sheet), serve the office
// documents, too.
package markup
