package api

var edgeRoutes = []Route{}
