package api

var accountRoutes = []Route{}
