// Package language tells what language words are in, among the languages of their script.
//
// It is a linear classifier over hashed runs of letters: for each word of a text the rows of a table are added up, and the
// language with the greatest sum is the likeliest. Sums are of whole numbers, so they are the same on every machine. The
// table is made by cmd/langtable from message catalogues and package descriptions; NOTICE lists them.
//
// The method is multinomial logistic regression on hashed n-grams, as in Joulin, Grave, Bojanowski and Mikolov, "Bag of
// Tricks for Efficient Text Classification" (2017), without the hidden layer.
package language
