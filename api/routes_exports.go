package api

var exportRoutes = []Route{}
