package api

var eventRoutes = []Route{}
