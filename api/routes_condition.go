package api

var conditionRoutes = []Route{}
