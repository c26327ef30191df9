// Package mail reads mails, mailboxes and calendars. What is attached to a mail is read
// by reading.Reader.Inner, whatever format it is of.
package mail
