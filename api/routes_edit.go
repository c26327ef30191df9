package api

var graphEditRoutes = []Route{}
