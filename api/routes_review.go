package api

var reviewRoutes = []Route{}
