// Package llm asks a language model, at any endpoint that speaks the protocol of
// OpenAI's chat completions, to refine what the service has found: the label of a
// domain, the explanation of a contradiction, the type of a relation, the words of an
// answer. It is optional, and never gates: every caller has an answer of its own and
// keeps it when this one fails.
//
// # Promises
//
//   - A prompt holds the content of one organization. It goes as JSON in a message
//     of its own, and the prompt says to treat it as data; what the model answers
//     is taken as text of the wanted form, or not at all.
//   - An organization spends at most Config.CallsPerHour, of which a share is kept for
//     cycles and one for answers; a call takes at most Config.Timeout.
//   - An endpoint that keeps failing is left alone for a while: by the organization
//     that meets the failures, and by all where several do. What content may cause, an
//     answer of another form or a prompt that is refused, is no failure.
//   - Nothing is logged of what is asked and answered.
//
// # What it hides
//
// The protocol.
package llm
