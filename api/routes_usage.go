package api

var usageRoutes = []Route{}
