package api

var brainRoutes = []Route{}
