package api

var recallRoutes = []Route{}
