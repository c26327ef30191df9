// Package contract holds the tests of the whole HTTP interface: they run every
// part of the service but the model in one process, send real requests over
// loopback and hold each answer to the OpenAPI document that is served beside it.
//
// It stands below cmd because only cmd may know all the parts.
package contract
