// Package contract holds the tests of the whole HTTP interface: they run every
// part of the service but the models in one process (the test of notes that want
// to steer has those, too), send real requests over loopback and hold each answer
// to the OpenAPI document that is served beside it.
//
// It stands below cmd because only cmd may know all the parts.
package contract
