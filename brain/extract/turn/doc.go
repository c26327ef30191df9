// Package turn reads who speaks where in a transcript or a chat: a line that begins with a name begins what that person
// says. It is pure, and linear in the length of the text.
package turn
