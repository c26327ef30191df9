package api

var importRoutes = []Route{}
