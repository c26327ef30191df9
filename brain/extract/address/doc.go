// Package address reads names where a language says by what stands beside them that they are names: "Frau Seidel",
// "佐藤さん", "शर्मा जी", and places of Chinese and Japanese that no space parts from what is said of them. It is pure,
// and knows a name only by such a sign, or by a list of the largest cities: rather none than a wrong one.
package address
