package api

var sessionRoutes = []Route{}
